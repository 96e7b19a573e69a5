// mooring policy: validates a policy file and explains its decision about a call, without making the call.

import { resolve } from 'node:path';
import { resolveSettings } from '../../app/config/resolve.ts';
import { profiles } from '../../app/profiles/index.ts';
import {
  type Explanation,
  explainCall,
  openPolicy,
  type PolicyQuery,
  policySchema,
} from '../../app/settings/policy.ts';
import { UsageError } from '../../app/usage-error.ts';
import { readJsonArguments } from '../client/arguments.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { table } from '../ui/table.ts';

const help = `Usage: mooring policy check [FILE] [--tool NAME | --resource URI | --prompt NAME] [options]
       mooring policy schema

Shows whether the policy allows a call, and which entry decides. Without a call, checks that the file is a valid policy.
FILE is YAML or JSON. Default: the policy in the settings.

Options:
  --tool NAME        check a call of this tool
  --args JSON        arguments of the call; @FILE reads a file
  --resource URI     check a read of this resource
  --prompt NAME      check this prompt
  --principal NAME   name of the caller (default: unauthenticated)
  --issuer URL       issuer of the caller's token
  --scope SCOPE      a scope of the caller's token; repeatable
  --profile NAME     profile (default: the one in the settings)
  --config FILE      read settings from this file
  --json             print JSON
  -h, --help         show this help

Exit code: 0 allowed, 1 denied or more scopes needed, 2 usage error.
`;

const options = {
  tool: { type: 'string' },
  args: { type: 'string' },
  resource: { type: 'string' },
  prompt: { type: 'string' },
  principal: { type: 'string' },
  issuer: { type: 'string' },
  scope: { type: 'string', multiple: true },
  profile: { type: 'string' },
  config: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const run = command({ name: 'policy', help, options }, async ({ values, positionals, out }) => {
  const [what, file, ...more] = positionals;
  if (what === 'schema') {
    out.json(policySchema);
    return 0;
  }
  if (what !== 'check' || more.length > 0)
    throw new UsageError('Usage: mooring policy check [FILE], or mooring policy schema');
  const { settings } = await resolveSettings({ configFile: values.config });
  const path = file === undefined ? settings.policy : resolve(file);
  if (path === undefined) throw new UsageError('The settings have no policy. Name a file: mooring policy check FILE');
  const profile = values.profile ?? settings.profile;
  if (!Object.hasOwn(profiles, profile))
    throw new UsageError(
      `Unknown profile ${JSON.stringify(profile)}; choose one of ${Object.keys(profiles).join(', ')}`,
    );
  const policy = await openPolicy(path, profile);
  const query = queryOf(values);
  if (query === undefined) {
    if (values.json === true) out.json({ file: path, valid: true });
    else out.write(`${out.style.good('✓')} ${path} is a valid policy\n`);
    return 0;
  }
  const explanation = explainCall(policy, query);
  if (values.json === true) out.json(explanation);
  else print(explanation, query, out);
  return explanation.decision === 'allow' ? 0 : 1;
});

function queryOf(values: {
  readonly tool?: string;
  readonly args?: string;
  readonly resource?: string;
  readonly prompt?: string;
  readonly principal?: string;
  readonly issuer?: string;
  readonly scope?: string[];
}): PolicyQuery | undefined {
  const { tool, resource, prompt, principal, issuer, scope } = values;
  const asked = [tool, resource, prompt].filter((each) => each !== undefined);
  if (asked.length > 1) throw new UsageError('Give only one of --tool, --resource and --prompt');
  if (asked.length === 0) return undefined;
  return {
    ...(tool === undefined ? {} : { tool }),
    ...(resource === undefined ? {} : { resource }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(values.args === undefined ? {} : { args: readJsonArguments(values.args) }),
    ...(principal === undefined && scope === undefined
      ? {}
      : {
          principal: { id: principal ?? 'unnamed', scopes: scope ?? [], ...(issuer === undefined ? {} : { issuer }) },
        }),
  };
}

function print({ decision, scopes, reasons }: Explanation, query: PolicyQuery, out: Output): void {
  const { style, width } = out;
  const subject = query.tool ?? query.resource ?? query.prompt ?? '';
  const texts = {
    allow: style.good('allowed'),
    deny: style.bad('denied'),
    'step-up': style.warn(`needs a token with the scopes ${scopes?.join(' ')}`),
  };
  out.write(`${style.name(subject)}: ${texts[decision]}\n\n`);
  type Row = Explanation['reasons'][number];
  const paint = (text: string, { effect }: Row): string =>
    effect === 'allow' ? style.good(text) : effect === 'deny' ? style.bad(text) : style.warn(text);
  const columns = [
    { title: 'step', text: ({ step }: Row) => step },
    { title: 'decision', text: ({ effect }: Row) => effect, paint },
    { title: 'entry', text: ({ rule }: Row) => rule, paint: (text: string) => style.faint(text) },
    { title: 'why', text: ({ why }: Row) => why },
  ];
  out.write(table(reasons, columns, { style, width, indent: 2 }));
}
