// Compile projects of TypeScript, each in a folder of its own, and run what comes out.
// Arguments: the folder of the package typescript; the folder of the projects.
// Prints for each project, by its name, the messages of the compiler and what main.js says.
const fs = require('node:fs');
const path = require('node:path');
const { spawnSync } = require('node:child_process');

const ts = require(process.argv[2]);
const libraries = new Map();

function compiled(folder) {
  const file = ts.readConfigFile(path.join(folder, 'tsconfig.json'), ts.sys.readFile);
  const config = ts.parseJsonConfigFileContent(file.config, ts.sys, folder);
  const options = { ...config.options, outDir: path.join(folder, 'out'), types: [] };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  host.getSourceFile = (name, ...more) => {
    if (!name.includes('/typescript/lib/')) return read(name, ...more);
    if (!libraries.has(name)) libraries.set(name, read(name, ...more));
    return libraries.get(name);
  };
  const program = ts.createProgram(config.fileNames, options, host);
  const messages = ts.getPreEmitDiagnostics(program).map((each) => {
    const line = each.file ? each.file.getLineAndCharacterOfPosition(each.start).line + 1 : 0;
    const text = ts.flattenDiagnosticMessageText(each.messageText, ' ');
    return `${each.file ? path.basename(each.file.fileName) : ''}:${line} TS${each.code} ${text}`;
  });
  program.emit();
  return messages;
}

const all = {};
for (const name of fs.readdirSync(process.argv[3])) {
  const folder = path.join(process.argv[3], name);
  const messages = compiled(folder);
  const main = path.join(folder, 'out', 'main.js');
  const done = spawnSync(process.execPath, [main], { encoding: 'utf8' });
  all[name] = { messages, said: done.stdout, status: done.status, error: done.stderr };
}
console.log(JSON.stringify(all));
