// The order of test files. Files that mostly wait are spread among those that compute, so that they run at the same time, and so are
// those with several servers and a database, so that they rarely do. Files of a project that share their modules are together, since a
// worker is kept only for the next file of its project; unit tests come last, since they are short.

import { relative } from 'node:path';
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Files and folders whose tests wait for official suites, other implementations, time limits and servers that do not answer. */
const waiting = [
  'attacks/audit-disk',
  'attacks/hostile-server',
  'client/conformance',
  'client/faulty/',
  'client/matrix',
  'client/resumption',
  'client/tasks',
  'client/third-party-tasks',
  'conformance/',
  'e2e/http-limits',
  'e2e/tasks',
  'gateway/conformance',
  'gateway/failures',
  'gateway/served',
  'gateway/task-recovery',
  'gateway/tasks',
  'peers/',
  'stores/redis-',
];

const kinds = [waiting, ['scale/']];

/** Which of these lists names the file; -1 for a file that computes. */
function kindOf({ moduleId }: TestSpecification): number {
  const path = relative(`${import.meta.dirname}/..`, moduleId).replaceAll('\\', '/');
  return kinds.findIndex((starts) => starts.some((start) => path.startsWith(start)));
}

/** The same files, those of each kind at equal distances. */
function spread(files: readonly TestSpecification[]): TestSpecification[] {
  const lists = [-1, ...kinds.keys()].map((kind) => files.filter((file) => kindOf(file) === kind));
  const placed = lists.flatMap((list) => list.map((file, at) => ({ file, place: (at + 0.5) / list.length })));
  return placed.sort((a, b) => a.place - b.place).map(({ file }) => file);
}

/** Projects whose files share their modules, in the order in which they run, after those of the others. */
const shared = ['program', 'library'];

export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isolated = sorted.filter(({ project }) => !shared.includes(project.name));
    return [isolated, ...shared.map((name) => sorted.filter(({ project }) => project.name === name))].flatMap(spread);
  }
}
