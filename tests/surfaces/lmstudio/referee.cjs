// A plugin by LM Studio's own client for node, run as a program: URL.
const { LMStudioClient, rawFunctionTool, createConfigSchematics } = require("@lmstudio/sdk");

const [url] = process.argv.slice(2);

async function main() {
  const registrar = new LMStudioClient({ baseUrl: url });
  const { clientIdentifier, clientPasskey } = await registrar.plugins.registerDevelopmentPlugin({
    manifest: { type: "plugin", runner: "node", owner: "referee", name: "node" },
  });
  const client = new LMStudioClient({ baseUrl: url, clientIdentifier, clientPasskey });
  const host = client.plugins.getSelfRegistrationHost();
  const schematics = createConfigSchematics()
    .field("loud", "boolean", { displayName: "Loud" }, true)
    .field("key", "string", { displayName: "Key", isProtected: true }, "")
    .field(
      "style",
      "select",
      {
        displayName: "Style",
        options: [{ value: "a", displayName: "A" }, { value: "b", displayName: "B" }],
        dependencies: [{ key: "loud", condition: { type: "equals", value: true } }],
      },
      "a",
    )
    .field("limit", "numeric", { min: 0, max: 9, step: 1, int: true, slider: { min: 0, max: 9, step: 1 } }, 3)
    .build();
  await host.setConfigSchematics(schematics);
  host.setToolsProvider(async () => [
    rawFunctionTool({
      name: "add",
      description: "Add two numbers.",
      parametersJsonSchema: {
        type: "object",
        properties: { a: { type: "integer" }, b: { type: "integer" } },
        required: ["a"],
      },
      implementation: async ({ a, b = 5 }, ctx) => {
        ctx.status("adding");
        return a + b;
      },
    }),
  ]);
  host.setPromptPreprocessor(async (ctl, message) => {
    const history = await ctl.pullHistory();
    ctl.createStatus({ status: "done", text: `seen ${history.getLength()}` });
    message.replaceText("by the referee");
    return message;
  });
  host.setGenerator(async (ctl, history) => {
    ctl.fragmentGenerated(`heard ${history.getLength()}`);
    ctl.toolCallGenerationStarted();
    ctl.toolCallGenerationNameReceived("add");
    ctl.toolCallGenerationArgumentFragmentGenerated('{"a": 1}');
    ctl.toolCallGenerationEnded({ type: "function", name: "add", arguments: { a: 1 } });
  });
  await host.initCompleted();
  console.log("registered");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
