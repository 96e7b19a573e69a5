// The interfaces between the parts of a form.

import type { JSX } from 'preact';
import type { Field, FieldReader } from './field.ts';
import type { FieldIssue } from './issues.ts';
import type { Schema } from './merge.ts';
import type { FieldState } from './state.ts';

export interface FormContext {
  /** The component of a field, for the parts of another one. */
  readonly Field: (props: ControlProps) => JSX.Element;
  readonly reader: FieldReader;
  readonly issues: readonly FieldIssue[];
  /** Whether the issues of a field are shown yet. */
  readonly isShown: (path: string) => boolean;
  readonly touch: (path: string) => void;
}

export interface ControlProps {
  readonly context: FormContext;
  readonly schema: Schema;
  /** The name of the property; its title is used instead if it has one. Empty for the form itself. */
  readonly label: string;
  readonly path: string;
  readonly required: boolean;
  readonly state: FieldState;
  /** The fields around this one, to stop at a recursive schema. */
  readonly ancestors: readonly Field[];
  readonly onChange: (state: FieldState) => void;
}

export interface PartProps extends ControlProps {
  readonly field: Field;
  readonly ids: { readonly input: string; readonly hint: string; readonly error: string };
  /** For aria-describedby. */
  readonly describedBy: string | undefined;
  readonly isInvalid: boolean;
}
