// Where the issues of a validation belong in a form.

export interface FieldIssue {
  readonly path: string;
  readonly message: string;
}

/** The JSON Pointer of a part. */
export function pointer(parent: string, key: string | number): string {
  return `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The issues of one field, not of its parts. */
export const issuesAt = (issues: readonly FieldIssue[], path: string): readonly FieldIssue[] =>
  issues.filter((issue) => issue.path === path);

/** The issues of a field that is shown without its parts. */
export const issuesWithin = (issues: readonly FieldIssue[], path: string): readonly FieldIssue[] =>
  issues.filter((issue) => issue.path === path || issue.path.startsWith(`${path}/`));
