// The entry point of the sandbox. Other folders import only from here.

export type {
  ExitReport,
  HiddenPaths,
  ProbeReport,
  ProgramRule,
  RunRequest,
  RunResult,
  Sandbox,
  SandboxLevel,
  SandboxPolicy,
  SandboxProcess,
  SpawnRequest,
  StopReason,
} from './contract.ts';
export type { SandboxErrorCode } from './errors.ts';
export { SandboxError } from './errors.ts';
export type { SandboxLimits } from './limits.ts';
export { defaultLimits, workerLimits } from './limits.ts';
export { probeSandbox } from './probe.ts';
export { createSandbox } from './sandbox.ts';
