// Runs in Node.js with the compiler of a project, see types.py.
//
// It reads {compiler, name, seed, ours, places}: a place is [path, line, column], both from 0 and
// columns in UTF-16 units. It writes {version, verdicts}: for each place "ours" where all of its
// definitions are ours, "other" where all are of other classes and it is no use of ours by
// inheritance. What is defined by an interface or a type of a shape may be ours, and stays open.
const fs = require('node:fs'), path = require('node:path');
const request = JSON.parse(fs.readFileSync(0, 'utf8'));
const ts = require(request.compiler);
const absolute = (file) => path.resolve(file).split(path.sep).join('/');
const first = absolute(request.seed[0]), folder = path.dirname(first);
const config = ['tsconfig.json', 'jsconfig.json']
  .map((name) => ts.findConfigFile(folder, ts.sys.fileExists, name)).find(Boolean);
const parsed = config && ts.parseJsonConfigFileContent(
  ts.readConfigFile(config, ts.sys.readFile).config ?? {}, ts.sys, path.dirname(config));
const options = { target: 99, jsx: 1, ...(parsed ? parsed.options : { moduleResolution: 100,
  module: 99 }), allowJs: true, noEmit: true };
const files = [...new Set([...(parsed ? parsed.fileNames : []),
  ...[request.seed, ...request.ours, ...request.places].map(([file]) => absolute(file))])];
const service = ts.createLanguageService({
  ...ts.sys,
  useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
  getScriptFileNames: () => files,
  getScriptVersion: () => '1',
  getScriptSnapshot: (file) => {
    const text = ts.sys.readFile(file);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => process.cwd(),
  getCompilationSettings: () => options,
  getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
});
const program = service.getProgram();
function found([file, line, column]) {
  const source = program.getSourceFile(absolute(file));
  if (!source || line >= source.getLineStarts().length) return undefined;
  const start = source.getLineStarts()[line] + column;
  if (!source.text.startsWith(request.name, start)) return undefined;
  return { file: absolute(file), start, key: `${absolute(file)}:${start}` };
}
const keyOf = (one) => `${one.fileName}:${one.textSpan.start}`;
const definitions = (place) => service.getDefinitionAtPosition(place.file, place.start) ?? [];
// Whether a definition is that of a shape, which a class fits without naming it.
function isShape({ fileName, textSpan: { start } }) {
  const source = program.getSourceFile(fileName);
  if (!source) return true;
  if (program.isSourceFileDefaultLibrary(source)) return false;
  let shape = false;
  const visit = (node) => {
    if (start < node.pos || start >= node.end) return;
    shape ||= ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return shape;
}
const seed = found(request.seed), ours = new Set(), uses = new Set();
for (const place of request.ours.map(found)) if (place) ours.add(place.key);
if (seed) {
  for (const one of definitions(seed)) ours.add(keyOf(one));
  for (const symbol of service.findReferences(seed.file, seed.start) ?? []) {
    for (const use of symbol.references) uses.add(`${use.fileName}:${use.textSpan.start}`);
  }
}
const verdicts = request.places.map((given) => {
  const place = found(given);
  const all = place && seed ? definitions(place) : [];
  if (!all.length) return '';
  if (all.every((one) => ours.has(keyOf(one)))) return 'ours';
  const open = all.some((one) => ours.has(keyOf(one)) || isShape(one)) || uses.has(place.key);
  return open ? '' : 'other';
});
process.stdout.write(JSON.stringify({ version: ts.version, verdicts }));
