// A reporter for Node's own test runner. It writes one JSON line for each test to a file
// in this folder, and a last line when the run has ended.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

// Whether this is a whole file, which Node reports as a test if it contains none.
function isFile({ name, file = '', line = 1, column = 1 }) {
  return line === 1 && column === 1 && (file === name || file.endsWith(`/${name}`));
}

function entry(type, data) {
  const details = data.details ?? {};
  const error = details.error;
  return {
    passed: type === 'test:pass',
    name: data.name,
    nesting: data.nesting,
    file: data.file ?? '',
    whole: data.nesting === 0 && isFile(data),
    suite: details.type === 'suite',
    skip: data.skip !== undefined && data.skip !== false,
    todo: data.todo !== undefined && data.todo !== false,
    seconds: (details.duration_ms ?? 0) / 1000,
    failure: error?.failureType ?? '',
    message: String(error?.cause?.stack ?? error?.cause ?? error?.message ?? '').slice(0, 4000),
  };
}

export default async function* write(source) {
  const output = fs.openSync(`${folder}node-${process.pid}.jsonl`, 'wx');
  for await (const { type, data } of source) {
    if (type === 'test:pass' || type === 'test:fail') {
      fs.writeSync(output, `${JSON.stringify(entry(type, data))}\n`);
    }
  }
  fs.writeSync(output, '{"end":true}\n');
  fs.closeSync(output);
}
