// NODE_OPTIONS loads this into every Node process of a run, before its program. In the
// process of jest or vitest itself, it adds the options for writing the results to this
// folder, one file for each session. The file is created empty at once, so that a session
// which never ends is seen to have no result.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { isMainThread } = require('node:worker_threads');

const PROGRAMS = [
  {
    place: /[\\/](?:jest|jest-cli)[\\/]bin[\\/]jest\.js$/,
    name: 'jest',
    asks: (file) => ['--json', `--outputFile=${file}`],
    replaced: /^--(?:json|outputFile)(?:=|$)/,
  },
  {
    place: /[\\/]vitest[\\/]vitest\.mjs$/,
    name: 'vitest',
    asks: (file, words) => [
      ...(words.some((word) => /^--reporters?(?:=|$)/.test(word)) ? [] : ['--reporter=default']),
      '--reporter=json',
      `--outputFile.json=${file}`,
    ],
    replaced: /^--outputFile(?:\.json)?(?:=|$)/,
  },
];

function programFile() {
  try {
    return fs.realpathSync(process.argv[1]);
  } catch {
    return process.argv[1] || '';
  }
}

// Removes an option, and its value if that is a separate word.
function without(words, pattern) {
  return words.filter((word, at) => {
    const before = words[at - 1] || '';
    const isValue = pattern.test(before) && !before.includes('=') && before !== '--json';
    return !pattern.test(word) && !isValue;
  });
}

if (isMainThread) {
  const file = programFile();
  const program = PROGRAMS.find(({ place }) => place.test(file));
  if (program) {
    const result = path.join(__dirname, `${program.name}-${process.pid}.json`);
    fs.writeFileSync(result, '', { flag: 'wx' });
    const words = process.argv.slice(2);
    const end = words.includes('--') ? words.indexOf('--') : words.length;
    const options = without(words.slice(0, end), program.replaced);
    process.argv.splice(2, words.length, ...options, ...program.asks(result, options), ...words.slice(end));
  }
}
