// The order of test files. Files that mostly wait are spread among those that compute, so that they run at the same time. Files that
// share their modules come last, since they are short, and together, since a worker is kept only for the next file of its project.

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

const isWaiting = ({ moduleId }: TestSpecification): boolean => {
  const path = relative(`${import.meta.dirname}/..`, moduleId).replaceAll('\\', '/');
  return waiting.some((start) => path.startsWith(start));
};

export class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isolated = sorted.filter(({ project }) => project.config.isolate);
    const shared = sorted.filter(({ project }) => !project.config.isolate);
    const lists = [isolated.filter(isWaiting), isolated.filter((file) => !isWaiting(file))];
    const placed = lists.flatMap((list) => list.map((file, at) => ({ file, place: at / list.length })));
    return [...placed.sort((a, b) => a.place - b.place).map(({ file }) => file), ...shared];
  }
}
