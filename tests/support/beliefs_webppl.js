#!/usr/bin/env node
// An oracle for Bayes filtering: WebPPL (npm), exact enumeration of beliefs_webppl.wppl. For small cases: it walks all paths.
//   npm install --prefix DIRECTORY webppl@0.9.15
//   NODE_PATH=DIRECTORY/node_modules beliefs_webppl.js [--record] < cases.jsonl > answers.jsonl
// --record writes each case and its answer into one line, the form of tests/data/beliefs-webppl.jsonl.
'use strict';
const fs = require('fs');
const path = require('path');
const webppl = require('webppl');

const number = (value) => {
  if (typeof value !== 'string') return value;
  const [p, q = '1'] = value.split('/');
  return Number(p) / Number(q);
};
const lines = fs.readFileSync(0, 'utf8').split('\n').filter((line) => line.trim() !== '');
const records = lines.map((line) => JSON.parse(line));
const cases = records.map(({start, steps}) => ({
  start: start.map(number),
  steps: steps.map(({weights, columns}) => ({
    weights: weights.map(number),
    columns: columns.map((column) => column.map(([target, probability]) => [target, number(probability)])),
  })),
}));

const program = fs.readFileSync(path.join(__dirname, 'beliefs_webppl.wppl'), 'utf8');
// As one string: WebPPL transforms an array of the program entry by entry, and runs out of stack.
const data = JSON.stringify(JSON.stringify(cases));
process.exitCode = 1;  // WebPPL may end in silence; only an answer is success
webppl.run(`var cases = JSON.parse(${data});\n${program}`, (store, answers) => {
  process.exitCode = 0;
  const record = process.argv.includes('--record');
  answers.forEach((answer, i) => {
    const {start, steps} = records[i];
    console.log(JSON.stringify(record ? {start, steps, ...answer} : answer));
  });
});
