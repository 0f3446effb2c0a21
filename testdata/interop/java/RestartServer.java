import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.File;
import java.net.InetAddress;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** An MCP server for host/interoptest made with the Java SDK: sessions over streamable HTTP, and one tool. */
public final class RestartServer {
    public static void main(String[] args) throws Exception {
        var transport = HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
        var text = Map.<String, Object>of("text", Map.of("type", "string"));
        var echo = Tool.builder()
            .name("echo").description("Repeats a text.")
            .inputSchema(Map.of("type", "object", "properties", text, "required", List.of("text")))
            .build();
        McpServer.sync(transport)
            .serverInfo("java", "1")
            .capabilities(ServerCapabilities.builder().tools(false).build())
            .toolCall(echo, (exchange, request) ->
                CallToolResult.builder().addTextContent(String.valueOf(request.arguments().get("text"))).build())
            .build();

        File base = Files.createTempDirectory("java").toFile();
        base.deleteOnExit();
        var tomcat = new Tomcat();
        tomcat.setBaseDir(base.getPath());
        var connector = new Connector();
        connector.setPort(Integer.parseInt(System.getenv().getOrDefault("PORT", "0")));
        connector.setProperty("address", InetAddress.getLoopbackAddress().getHostAddress());
        tomcat.setConnector(connector);
        var context = tomcat.addContext("", base.getPath());
        Tomcat.addServlet(context, "mcp", transport).setAsyncSupported(true);
        context.addServletMappingDecoded("/*", "mcp");
        tomcat.start();
        System.err.println("listening on 127.0.0.1:" + connector.getLocalPort());
        tomcat.getServer().await();
    }
}
