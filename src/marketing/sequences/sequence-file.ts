/**
 * A sequence as a file: reading one, writing one, and telling how a file differs from the sequence that is
 * there.
 */
import { isDeepStrictEqual } from 'node:util';
import { type FieldErrors, invalid } from '../../errors.ts';
import { MAX_NAME_CHARS } from '../../limits.ts';
import { type Static, t, text, ulid } from '../../platform/http/schema.ts';
import { isPlainObject, requireAll, validate } from '../../platform/http/validation.ts';
import { type BareStep, creation, type SequenceRecord, type StepInput, step } from './schemas.ts';
import { presentStep, readSteps } from './steps.ts';

const { name, list: _id, max_recipients, ...rest } = creation.properties;
/** The API's own fields; a list may be named. What is unknown is refused: it may be misspelt. */
const file = t.Object(
  {
    id: t.Optional(ulid()),
    name,
    list: t.Optional(text({ min: 1, max: MAX_NAME_CHARS })),
    max_recipients: t.Optional(max_recipients),
    ...rest,
    steps: t.Optional(t.Array(t.Object(step.properties, { additionalProperties: false }))),
  },
  { additionalProperties: false },
);
export type SequenceFile = Static<typeof file>;

/** Reads a file. Throws AppError `invalid`, by field. */
export function readSequenceFile(source: string): SequenceFile {
  let sent: unknown;
  try {
    sent = JSON.parse(source);
  } catch {
    throw invalid({ _: ['The file is not JSON.'] });
  }
  if (!isPlainObject(sent)) throw invalid({ _: ['The file must hold a JSON object.'] });
  return requireAll(validate(file, sent), ({ steps = [] }) => errorsInSteps(steps));
}

function errorsInSteps(steps: readonly StepInput[]): FieldErrors {
  const errors: FieldErrors = {};
  for (const [index, { condition }] of steps.entries())
    refuseUnknownParts(condition, `steps.${index}.condition`, errors);
  readSteps(steps, errors);
  return errors;
}

const CONDITION_MEMBERS = ['type', 'event', 'of', 'else'];

/**
 * The API ignores them. Without an `else` that was misspelt, a step would be skipped against what was meant.
 */
function refuseUnknownParts(condition: unknown, at: string, errors: FieldErrors): void {
  if (!isPlainObject(condition)) return;
  const unknown = Object.keys(condition).find((member) => !CONDITION_MEMBERS.includes(member));
  if (unknown !== undefined)
    errors[at] = [`has an unknown member: there are ${CONDITION_MEMBERS.join(', ')}`];
  const parts: unknown[] = Array.isArray(condition.of) ? condition.of : [];
  for (const [index, part] of parts.entries()) refuseUnknownParts(part, `${at}.of.${index}`, errors);
}

/** The file of a sequence; `list` is what names its list there. Pushed as it is, it changes nothing. */
export function writeSequenceFile(record: SequenceRecord, list: string): string {
  const all: Record<string, unknown> = { ...record, list, steps: bareSteps(record) };
  const kept = ['id', ...Object.keys(creation.properties)].map((field) => [field, all[field]]);
  return `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`;
}

/**
 * What a file would change of a sequence, also in words. What it leaves out stays. `list` is the id of the
 * list it names.
 */
export function differencesOf(
  record: SequenceRecord,
  { id: _id, list: _list, ...sent }: SequenceFile,
  list: string | undefined,
): { changes: Record<string, unknown>; told: string[] } {
  const steps = sent.steps && completed(sent.steps);
  const before: Record<string, unknown> = { ...record, steps: bareSteps(record) };
  const after = { ...sent, ...(list && { list }), ...(steps && { steps }) };
  const changed = Object.entries(after).filter(
    ([field, value]) => value !== undefined && !isDeepStrictEqual(value, before[field]),
  );
  return {
    changes: Object.fromEntries(changed),
    told: changed.map(([field]) =>
      field === 'steps' ? `steps (${tellSteps(bareSteps(record), steps ?? [])})` : field,
    ),
  };
}

function bareSteps({ steps }: SequenceRecord): BareStep[] {
  return steps.map(({ condition_text: _text, stats: _stats, ...bare }) => bare);
}

/** With what is left out of each filled in. They were found sound. */
function completed(steps: readonly StepInput[]): BareStep[] {
  return readSteps(steps, {}).map(presentStep);
}

function tellSteps(before: readonly BareStep[], after: readonly BareStep[]): string {
  const made = after.flatMap((step) => {
    const known = before.find(({ key }) => key === step.key);
    if (known === undefined) return [`${step.key} is new`];
    const old: Record<string, unknown> = { ...known };
    const fields = Object.entries(step).filter(([field, value]) => !isDeepStrictEqual(value, old[field]));
    return fields.length === 0 ? [] : [`${step.key}: ${fields.map(([field]) => field).join(', ')}`];
  });
  const gone = before.flatMap(({ key }) =>
    after.some((step) => step.key === key) ? [] : [`${key} is gone`],
  );
  return [...made, ...gone].join('; ') || 'their order';
}
