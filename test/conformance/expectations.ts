// What the official suite cannot be asked to approve, each with its reason; shared by the tests of all transports.
// An entry that the suite no longer complains about makes the tests fail, so nothing stays here by habit.

import type { Allowance } from './outcome.ts';
import type { PinnedRevision } from './pin-proxy.ts';

const noElicitation: Allowance = {
  scenario: 'tools-call-elicitation',
  check: 'tools-call-elicitation',
  reason: 'elicitation came with 2025-06-18; the tool must answer without asking',
};

/** Features that a pinned revision does not have, so that the scenario rightly misses them. */
export const missingIn: Record<PinnedRevision, readonly Allowance[]> = {
  '2024-11-05': [
    noElicitation,
    {
      scenario: 'tools-call-audio',
      check: 'tools-call-audio',
      reason: 'audio content came with 2025-03-26; the tool must answer with an embedded resource instead',
    },
  ],
  '2025-03-26': [noElicitation],
  '2025-06-18': [],
};

/** A bridge answers `test_reconnection` with plain JSON: there is no connection on a pipe that could be closed and resumed. */
export const noPolling: Allowance = {
  scenario: 'server-sse-polling',
  check: 'nothing-checked',
  reason: 'closing and resuming an event stream exists on Streamable HTTP only',
};

/** Scenarios of the stateless wire that check HTTP headers, which a pipe does not have. */
export const headerScenarios = ['http-header-validation', 'http-custom-header-server-validation'] as const;

/** Single checks of `server-stateless` that presuppose HTTP headers. */
export const headerChecks: readonly Allowance[] = [
  {
    scenario: 'server-stateless',
    check: 'sep-2575-http-server-header-mismatch-400',
    reason: 'there is no version header on a pipe that could disagree with the body',
  },
  ...['missing-meta', 'missing-protocol-version'].map((probe) => ({
    scenario: 'server-stateless',
    check: `sep-2575-request-meta-invalid-${probe}`,
    reason: 'without the claim, and without a header, the request belongs to the handshake era and meets its gate',
  })),
];

/** Scenarios of the extension io.modelcontextprotocol/tasks. */
export const isTask = (scenario: string): boolean => scenario.startsWith('tasks-');

/** Scenarios of the extension io.modelcontextprotocol/skills. */
export const skillScenarios = [
  'sep-2640-skills-enumeration',
  'sep-2640-skills-manifest',
  'sep-2640-skills-directory',
] as const;

/** The scenarios of tasks that the suite checks; over a pipe they run one by one, since the suite has no group of them. */
export const taskScenarios = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
] as const;

/** Single checks of tasks that presuppose HTTP headers. */
export const taskHeaderChecks: readonly Allowance[] = [
  'tasks-headers-reject-mismatched-method',
  'sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
].map((check) => ({
  scenario: 'tasks-request-headers',
  check,
  reason: 'there are no headers on a pipe that could disagree with the body',
}));

/** The one scenario of tasks that the suite always skips. */
export const neverRun: Allowance = {
  scenario: 'tasks-status-notifications',
  check: 'tasks-status-notifications',
  reason: 'the suite has no check for notifications of tasks yet',
};

/** Scenarios of extensions that are not part of the protocol's core. */
export const isExtension = (scenario: string): boolean => /^(tasks-|sep-2640-)/.test(scenario);
