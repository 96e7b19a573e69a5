// The URI templates of RFC 6570 as servers use them: simple, reserved, path, label, query and fragment expansion.

const expression = /\{([+#./;?&]?)([^{}]+)\}/g;

const namesOf = (list: string): string[] => list.split(',').map((name) => name.replace(/[*]|:\d+$/g, '').trim());

/** The names of the variables, each once. */
export function templateVariables(template: string): string[] {
  return [...new Set([...template.matchAll(expression)].flatMap((match) => namesOf(match[2] as string)))];
}

interface ExpressionStyle {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  readonly reserved: boolean;
}

const plain: ExpressionStyle = { first: '', separator: ',', named: false, reserved: false };
const styles: Readonly<Record<string, ExpressionStyle>> = {
  '+': { ...plain, reserved: true },
  '#': { ...plain, first: '#', reserved: true },
  '.': { ...plain, first: '.', separator: '.' },
  '/': { ...plain, first: '/', separator: '/' },
  ';': { ...plain, first: ';', separator: ';', named: true },
  '?': { ...plain, first: '?', separator: '&', named: true },
  '&': { ...plain, first: '&', separator: '&', named: true },
};

/** The URI for some values; variables without a value are left out. */
export function expandTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(expression, (_, operator: string, list: string) => {
    const style = styles[operator] ?? plain;
    const encode = (value: string): string => (style.reserved ? encodeURI(value) : encodeURIComponent(value));
    const parts = namesOf(list)
      .filter((name) => Object.hasOwn(values, name) && values[name] !== '')
      .map((name) => {
        const value = encode(values[name] as string);
        return style.named ? `${name}=${value}` : value;
      });
    return parts.length === 0 ? '' : style.first + parts.join(style.separator);
  });
}
