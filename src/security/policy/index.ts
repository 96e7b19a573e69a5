// The entry point of the policy. Other folders import only from here.

export type { AccessDecision } from './access.ts';
export { type AppliedPolicy, type ApplyOptions, applyPolicy, enforcePolicy, type PolicyGuard } from './apply.ts';
export { type CompiledPolicy, compilePolicy, type FileAccess } from './compile.ts';
export { type AccessRule, type ArgumentRule, type Policy, PolicyError } from './contract.ts';
export { type Explanation, explainCall, formatExplanation, type PolicyQuery, type Reason } from './explain.ts';
export { type LoadOptions, loadPolicy } from './load.ts';
export { policySchema } from './schema.ts';
