// The entry point of the policy. Other folders import only from here.

export { type ApplyOptions, applyPolicy, enforcePolicy, type PolicyGuard } from './apply.ts';
export { type CompiledPolicy, compilePolicy } from './compile.ts';
export { type Policy, PolicyError } from './contract.ts';
export { type Explanation, explainCall, formatExplanation, type PolicyQuery } from './explain.ts';
export { type LoadOptions, loadPolicy } from './load.ts';
export { policySchema } from './schema.ts';
