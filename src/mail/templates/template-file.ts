/**
 * A template as a file: front matter (YAML between two lines of three dashes), then its body, of the kind
 * that the file's name tells. What is wrong is refused by its line and name.
 */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Range, stringify, visit } from 'yaml';
import { AppError, type FieldErrors, invalid } from '../../errors.ts';
import type { Static } from '../../platform/http/schema.ts';
import { validate } from '../../platform/http/validation.ts';
import { frontMatter } from './schemas.ts';
import type { TemplateRecord } from './service.ts';

const BODIES = { md: 'body_markdown', html: 'body_html', txt: 'body_text' } as const;
/** What kinds of files there are, by how their names end. */
export type FileKind = keyof typeof BODIES;
export type BodyField = (typeof BODIES)[FileKind];

const ENDINGS: Readonly<Record<string, FileKind>> = {
  md: 'md',
  markdown: 'md',
  html: 'html',
  htm: 'html',
  txt: 'txt',
};
const FENCE = /^---[ \t]*$/;

/** What a file says of its template. */
export interface TemplateFile {
  /** What its front matter gives. */
  fields: Static<typeof frontMatter>;
  body_field: BodyField;
  /** All that stands below the front matter. */
  body: string;
  /** An error of a field's as one of the file, by line. */
  explain(error: unknown): unknown;
}

/** The kind of a file of this name; null where the name does not tell. */
export function kindOfFile(name: string): FileKind | null {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(ENDINGS, ending) ? (ENDINGS[ending] ?? null) : null;
}

/** Throws AppError `invalid` with a message for each line that is wrong. */
export function readTemplateFile(bytes: Uint8Array, kind: FileKind): TemplateFile {
  const { front, body } = splitFile(decode(bytes));
  const lines = new LineCounter();
  const doc = parseDocument(front, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  // The line of three dashes stands above the first.
  const lineAt = (offset: number): number => lines.linePos(offset).line + 1;
  const problems = doc.errors.map(({ pos, message }) => `line ${lineAt(pos[0])}: ${message}. ${QUOTING}`);
  visit(doc, {
    Alias: (_key, { range }) => {
      problems.push(`line ${lineAt(range?.[0] ?? 0)}: write the value out: * and & name none here`);
    },
  });
  if (doc.contents !== null && !isMap(doc.contents))
    problems.push('line 2: the front matter must be lines of a name, a colon and a value');
  refuse(problems);
  const lineOf = (path: string): number => lineOfField(doc.contents, path, lineAt);
  problems.push(...unknownNames(doc.contents, lineAt));
  const { value, errors } = validate(frontMatter, doc.toJS() ?? {});
  problems.push(...byLine(errors, lineOf));
  refuse(problems);
  return {
    fields: value as Static<typeof frontMatter>, // Nothing is wrong with it.
    body_field: BODIES[kind],
    body,
    explain: (error) =>
      error instanceof AppError && error.kind === 'invalid' && error.errors
        ? refusalOf(byLine(error.errors, lineOf))
        : error,
  };
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw refusalOf(problems);
}

/** From the first line to the last. */
function refusalOf(problems: readonly string[]): AppError {
  return invalid({ _: problems.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })) });
}

const QUOTING =
  'A text with {{, # or a colon in it, or one that looks like something else, stands in quotation marks';

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid({ _: ['The file is no text in UTF-8.'] });
  }
}

function splitFile(text: string): { front: string; body: string } {
  const lines = text.split(/(?<=\n)/);
  const isFence = (line: string): boolean => FENCE.test(line.replace(/\r?\n$/, ''));
  if (!isFence(lines[0] ?? ''))
    throw invalid({
      _: ['line 1: must be ---: a template begins with its front matter, between two such lines'],
    });
  const end = lines.findIndex((line, index) => index > 0 && isFence(line));
  if (end < 0) throw invalid({ _: ['line 1: the front matter has no end: a second line of --- is missing'] });
  return { front: lines.slice(1, end).join(''), body: lines.slice(end + 1).join('') };
}

/** The messages of fields, each with the line of what it is about, or of what holds that. */
function byLine(errors: FieldErrors, lineOf: (path: string) => number): string[] {
  return Object.entries(errors).flatMap(([path, messages]) =>
    messages.map((message) =>
      // What stands below the front matter has no name there.
      path.startsWith('body_')
        ? `${path} ${message}`
        : `line ${lineOf(path)}: ${path} ${message}${message === 'must be a string' ? `. ${QUOTING}` : ''}`,
    ),
  );
}

/** 1 for what is not there. */
function lineOfField(contents: unknown, path: string, lineAt: (offset: number) => number): number {
  let node = contents;
  let line = 1;
  for (const name of path.split('.')) {
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === name) : undefined;
    const at = pair ? pair.key : isSeq(node) ? node.items[Number(name)] : undefined;
    node = pair ? pair.value : at;
    const offset = rangeOf(at)?.[0];
    if (offset === undefined) break;
    line = lineAt(offset);
  }
  return line;
}

function rangeOf(node: unknown): Range | null | undefined {
  return isMap(node) || isSeq(node) || isScalar(node) ? node.range : null;
}

const NAMES = Object.keys(frontMatter.properties);
const NAMES_OF_VARIABLE = ['name', 'description', 'required'];

/** A name that is misspelt would be passed over, as the API does it, and nobody would know. */
function unknownNames(contents: unknown, lineAt: (offset: number) => number): string[] {
  const variables = isMap(contents) ? contents.get('variables') : null;
  const unknownIn = (node: unknown, names: readonly string[]): string[] =>
    (isMap(node) ? node.items : []).flatMap(({ key }) => {
      const name = isScalar(key) ? String(key.value) : '?';
      if (names.includes(name)) return [];
      return [`line ${lineAt(rangeOf(key)?.[0] ?? 0)}: ${name} is none of ${names.join(', ')}`];
    });
  return [
    ...unknownIn(contents, NAMES),
    ...(isSeq(variables) ? variables.items : []).flatMap((item) => unknownIn(item, NAMES_OF_VARIABLE)),
  ];
}

/** The file of a template, which changes nothing where it is pushed back, and its kind. */
export function writeTemplateFile(template: TemplateRecord): { kind: FileKind; file: string } {
  const kind: FileKind =
    template.body_markdown !== null ? 'md' : template.body_html !== null ? 'html' : 'txt';
  const { name, slug, subject, category, description, variables, is_marketing, layout } = template;
  const front = stringify(
    {
      name,
      slug,
      subject,
      category,
      ...(description === null ? {} : { description }),
      ...(is_marketing ? { is_marketing } : {}),
      ...(layout === null ? {} : { layout }),
      ...(variables.length === 0
        ? {}
        : {
            variables: variables.map((variable) => ({
              name: variable.name,
              ...(variable.description === null ? {} : { description: variable.description }),
              ...(variable.required ? { required: true } : {}),
            })),
          }),
    },
    { lineWidth: 0 },
  );
  return { kind, file: `---\n${front}---\n${template[BODIES[kind]] ?? ''}` };
}
