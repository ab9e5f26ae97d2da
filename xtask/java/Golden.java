import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InvalidMetadataException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Prints the bytes that Kafka's own classes write, for messages whose every field has a value that
 * follows from the field's path. crates/wire/tests/messages/sampler.rs makes the same values.
 *
 * Arguments: "errors" prints the table of error codes; "Name:low-high" prints that message in these
 * versions, a line "Name version variant hex" for each variant.
 */
public final class Golden {
    /** What a message is filled with; see {@link #value}. */
    enum Variant { FULL, NULL, EMPTY, DEFAULT }

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    private static final ObjectMapper MAPPER =
        new ObjectMapper().enable(JsonParser.Feature.ALLOW_COMMENTS);

    public static void main(String[] arguments) throws Exception {
        for (String argument : arguments) {
            if (argument.equals("errors")) {
                printErrors();
                continue;
            }
            String[] parts = argument.split("[:-]");
            for (int version = Integer.parseInt(parts[1]); version <= Integer.parseInt(parts[2]); version++) {
                for (Variant variant : Variant.values()) {
                    byte[] bytes = new Golden(parts[0], (short) version, variant).bytes();
                    System.out.println(parts[0] + " " + version + " "
                        + variant.name().toLowerCase() + " " + HexFormat.of().formatHex(bytes));
                }
            }
        }
    }

    private static void printErrors() {
        for (Errors error : Errors.values()) {
            Exception exception = error.exception();
            String kind = exception instanceof InvalidMetadataException ? "refresh"
                : exception instanceof RetriableException ? "retry" : "final";
            System.out.println(error.code() + " " + error.name() + " " + kind);
        }
    }

    private final String name;
    private final short version;
    private final Variant variant;
    private final JsonNode definition;
    private final Map<String, JsonNode> shared = new LinkedHashMap<>();

    private Golden(String name, short version, Variant variant) throws Exception {
        this.name = name;
        this.version = version;
        this.variant = variant;
        try (InputStream file = Golden.class.getResourceAsStream("/common/message/" + name + ".json")) {
            this.definition = MAPPER.readTree(file);
        }
        for (JsonNode struct : definition.path("commonStructs")) {
            shared.put(struct.get("name").asText(), struct.get("fields"));
        }
    }

    private byte[] bytes() throws Exception {
        String type = "org.apache.kafka.common.message." + name
            + (definition.get("type").asText().equals("data") ? "" : "Data");
        Message message;
        if (variant == Variant.DEFAULT) {
            message = (Message) Class.forName(type).getDeclaredConstructor().newInstance();
        } else {
            JsonNode json = struct(definition.get("fields"), name);
            message = (Message) Class.forName(type + "JsonConverter")
                .getMethod("read", JsonNode.class, short.class).invoke(null, json, version);
        }
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException(name + " " + version + " is shorter than its size");
        }
        return buffer.array();
    }

    private ObjectNode struct(JsonNode fields, String path) {
        ObjectNode object = NODES.objectNode();
        for (JsonNode field : fields) {
            if (!contains(field.get("versions"))) {
                continue;
            }
            String fieldName = field.get("name").asText();
            String key = Character.toLowerCase(fieldName.charAt(0)) + fieldName.substring(1);
            object.set(key, field(field, path + "." + fieldName));
        }
        return object;
    }

    private JsonNode field(JsonNode field, String path) {
        if (variant == Variant.NULL && contains(field.get("nullableVersions"))) {
            return NullNode.getInstance();
        }
        String type = field.get("type").asText();
        return value(type, field.get("fields"), path);
    }

    /**
     * Variant full has two elements in each array; null has null wherever that is allowed, else one
     * element; empty has no elements and empty strings and bytes.
     */
    private JsonNode value(String type, JsonNode fields, String path) {
        if (type.startsWith("[]")) {
            ArrayNode array = NODES.arrayNode();
            int count = variant == Variant.FULL ? 2 : variant == Variant.NULL ? 1 : 0;
            for (int index = 0; index < count; index++) {
                array.add(value(type.substring(2), fields, path + "." + index));
            }
            return array;
        }
        long hash = hash(path);
        switch (type) {
            case "bool": return BooleanNode.valueOf((hash >>> 20 & 1) == 1);
            case "int8": return new LongNode((byte) hash);
            case "int16": return new LongNode((short) hash);
            case "uint16": return new LongNode(hash & 0xffffL);
            case "int32": return new LongNode((int) hash);
            case "uint32": return new LongNode(hash & 0xffffffffL);
            case "int64": return new LongNode(hash);
            case "float64": return new DoubleNode((hash & 0xfffff) / 8.0);
            case "uuid": return new TextNode(new Uuid(hash, hash(path + "#")).toString());
            case "string": return new TextNode(string(path, hash));
            case "bytes":
            case "records": return new BinaryNode(binary(hash));
            default: return struct(fields != null ? fields : shared.get(type), path);
        }
    }

    private String string(String path, long hash) {
        if (variant == Variant.EMPTY) {
            return "";
        }
        return path.substring(path.lastIndexOf('.') + 1) + "-" + String.format("%04x", hash & 0xffff);
    }

    private byte[] binary(long hash) {
        int length = variant == Variant.EMPTY ? 0 : 1 + (int) (hash & 7);
        return Arrays.copyOf(ByteBuffer.allocate(8).putLong(hash).array(), length);
    }

    /** FNV-1a, 64 bits. */
    private static long hash(String path) {
        long hash = 0xcbf29ce484222325L;
        for (byte octet : path.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (octet & 0xff)) * 0x100000001b3L;
        }
        return hash;
    }

    /** Whether a version range of the definitions holds this version. */
    private boolean contains(JsonNode range) {
        if (range == null || range.asText().equals("none")) {
            return false;
        }
        String[] ends = range.asText().split("-");
        if (ends[0].endsWith("+")) {
            return version >= Integer.parseInt(ends[0].substring(0, ends[0].length() - 1));
        }
        return version >= Integer.parseInt(ends[0]) && version <= Integer.parseInt(ends[ends.length - 1]);
    }
}
