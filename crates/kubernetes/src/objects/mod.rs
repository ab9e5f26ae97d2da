//! Kubernetes' objects, with the fields that kgauge sets. Names and meaning are those of Kubernetes' API reference
//! (`core/v1`, `batch/v1`) and of Strimzi's CRDs (`kafka.strimzi.io/v1`).

mod config;
mod job;
mod kafka_user;
mod meta;
mod pod;
mod security;
mod volume;

pub(crate) use config::{ConfigMapManifest, SecretManifest, Service, ServicePort, ServiceSpec};
pub(crate) use job::{JobManifest, JobSpec, PodTemplate, TemplateMeta};
pub(crate) use kafka_user::{
    Acl, AclResource, Authorization, KafkaUser, KafkaUserSpec, Quotas, TypeOnly,
};
pub(crate) use meta::{LabelMap, Meta, OwnerReference};
pub(crate) use pod::{
    Container, ContainerPort, LabelSelector, LocalReference, PodSpec, Resources, SpreadConstraint,
};
pub(crate) use security::{ContainerSecurity, PodSecurity};
pub(crate) use volume::{
    ConfigMapSource, EmptyDir, KeyToPath, PodVolume, SecretSource, VolumeMount, VolumeSource,
};
