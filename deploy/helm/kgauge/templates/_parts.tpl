{{/* Labels that select the pods of one component: dict "release" .Release "component" "lead". */}}
{{- define "kgauge.selector" -}}
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/instance: {{ .release.Name }}
app.kubernetes.io/name: kgauge
{{- end }}

{{- define "kgauge.labels" -}}
{{ include "kgauge.selector" . }}
app.kubernetes.io/managed-by: kgauge
{{- end }}

{{/* Everything of a pod that lead and agents share: the root context. */}}
{{- define "kgauge.pod" -}}
restartPolicy: Never
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.pullSecret }}
imagePullSecrets:
- name: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "kgauge.container" -}}
image: {{ .Values.image }}
command: [/kgauge]
resources:
  requests: {cpu: {{ .Values.cpu | quote }}, memory: {{ .Values.memory | quote }}}
  limits: {cpu: {{ .Values.cpu | quote }}, memory: {{ .Values.memory | quote }}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
terminationMessagePolicy: FallbackToLogsOnError
{{- end }}

{{- define "kgauge.job" -}}
activeDeadlineSeconds: {{ int64 .Values.deadlineSeconds }}
ttlSecondsAfterFinished: 900
{{- end }}

{{- define "kgauge.annotations" -}}
cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
karpenter.sh/do-not-disrupt: "true"
{{- end }}
