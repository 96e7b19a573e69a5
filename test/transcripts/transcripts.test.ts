// Plays every transcript of this folder at every revision it names.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { inMemory, parseTranscript, play } from '../support/transcript.ts';
import { taskServer, transcriptServer } from './server.ts';

const folder = import.meta.dirname;

for (const file of readdirSync(folder).filter((each) => each.endsWith('.transcript'))) {
  describe(file.replace('.transcript', ''), () => {
    for (const testCase of parseTranscript(readFileSync(`${folder}/${file}`, 'utf8'))) {
      for (const revision of testCase.revisions) {
        const server = file === 'tasks.transcript' ? taskServer : transcriptServer;
        test(`${revision}: ${testCase.title}`, () => play(testCase, revision, inMemory(server())));
      }
    }
  });
}
