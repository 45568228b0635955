// llama.cpp's grammar parser as a filter: {"name", "grammar"} a line in, and a line out for
// each that the parser refuses: {"name", "error"}.
// Run it in the folder that has `node_modules`.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const library = pathToFileURL("node_modules/node-llama-cpp/dist/index.js");
const { getLlama, LlamaGrammar } = await import(library.href);

const llama = await getLlama({ build: "never", gpu: false, logLevel: "disabled" });
for await (const line of createInterface({ input: process.stdin })) {
    const { name, grammar } = JSON.parse(line);
    try {
        new LlamaGrammar(llama, { grammar });
    } catch (error) {
        console.log(JSON.stringify({ name, error: String(error.message) }));
    }
}
console.log(JSON.stringify({ done: true }));
process.exit(0);
