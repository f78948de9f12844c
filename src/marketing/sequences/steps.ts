/** Reads steps as they are sent into the model, and names every problem under its field. Pure functions. */
import { isDeepStrictEqual } from 'node:util';
import { conflict, type FieldErrors, toDo } from '../../errors.ts';
import { merge } from '../../platform/http/fields.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { EVENT_SLUG, NO_EVENT } from '../contacts/service.ts';
import { readVariables } from '../mails/service.ts';
import type { Condition, Otherwise, Step } from './model.ts';
import { type BareStep, STEP_FIELDS, type StepInput } from './schemas.ts';
import type { SequenceRow } from './tables.ts';

/** Ten years; what waits longer waits for nothing. */
const MAX_DELAY_HOURS = 87_600;
/** Conditions in one `all`, and how deep they may stand in one another: more is a program. */
const MAX_CONDITION_PARTS = 10;
export const MAX_CONDITION_DEPTH = 3;

const KEY = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
const CONDITION_TYPES = ['always', 'clicked', 'not_clicked', 'event', 'no_event', 'all'] as const;

/** Reads a draft's steps. `errors` names what can never be right; what is still missing is for the checks. */
export function readSteps(inputs: readonly StepInput[], errors: FieldErrors): Step[] {
  const keys = new Set<string>();
  return inputs.map((input, index) => {
    const at = `steps.${index}`;
    if (!KEY.test(input.key)) errors[`${at}.key`] = ['must be letters, digits, dashes and underscores'];
    else if (keys.has(input.key)) errors[`${at}.key`] = ['must differ from those of all other steps'];
    keys.add(input.key);
    const { condition, variables, ...values } = merge(STEP_FIELDS, null, input);
    if (!KEY.test(values.track)) errors[`${at}.track`] = ['must be letters, digits, dashes and underscores'];
    if (values.delay_hours < 0 || values.delay_hours > MAX_DELAY_HOURS)
      errors[`${at}.delay_hours`] = [`must be from 0 to ${MAX_DELAY_HOURS}`];
    return {
      ...values,
      position: input.position ?? index,
      variables: readVariables(variables, `${at}.variables`, errors),
      condition: readCondition(condition, { at: `${at}.condition`, depth: 0, errors }),
      otherwise: readOtherwise(condition.else, `${at}.condition.else`, errors),
    };
  });
}

interface Place {
  at: string;
  depth: number;
  errors: FieldErrors;
}

function readCondition(input: Record<string, unknown>, place: Place): Condition {
  const { at, errors } = place;
  const type = CONDITION_TYPES.find((each) => each === (input.type ?? 'always'));
  if (type === undefined) errors[`${at}.type`] = [`must be one of: ${CONDITION_TYPES.join(', ')}`];
  if (type === 'event' || type === 'no_event') return { type, event: readEvent(input.event, at, errors) };
  if (type === 'all') return { type, of: readParts(input.of, place) };
  return { type: type ?? 'always' };
}

function readEvent(event: unknown, at: string, errors: FieldErrors): string {
  if (typeof event === 'string' && EVENT_SLUG.test(event)) return event;
  errors[`${at}.event`] = [NO_EVENT];
  return '';
}

function readParts(of: unknown, { at, depth, errors }: Place): Condition[] {
  if (!Array.isArray(of) || of.length === 0 || of.length > MAX_CONDITION_PARTS) {
    errors[`${at}.of`] = [`must be an array of 1 to ${MAX_CONDITION_PARTS} conditions`];
    return [];
  }
  if (depth >= MAX_CONDITION_DEPTH) {
    errors[`${at}.of`] = [`conditions may stand ${MAX_CONDITION_DEPTH} deep in one another`];
    return [];
  }
  return of.map((part: unknown, index) => {
    const inside = { at: `${at}.of.${index}`, depth: depth + 1, errors };
    if (isPlainObject(part)) return readCondition(part, inside);
    errors[inside.at] = ['must be a condition'];
    return { type: 'always' };
  });
}

function readOtherwise(value: unknown, at: string, errors: FieldErrors): Otherwise {
  if (value === undefined || value === null || value === 'skip') return 'skip';
  if (value === 'exit') return 'exit';
  if (isPlainObject(value) && typeof value.route_to === 'string') {
    if (KEY.test(value.route_to)) return { route_to: value.route_to };
    errors[`${at}.route_to`] = ['must be letters, digits, dashes and underscores'];
  } else errors[at] = ['must be skip, exit, or {"route_to": a track}'];
  return 'skip';
}

/** A step as it is answered: as it would be sent again. */
export function presentStep(step: Step): BareStep {
  const { otherwise, condition, ...rest } = step;
  return { ...rest, variables: { ...step.variables }, condition: { ...condition, else: otherwise } };
}

/**
 * Names in `errors` what a running sequence's steps must not change: all but template, preheader, delay and
 * variables.
 */
export function refuseOtherSteps(
  current: readonly Step[],
  wanted: readonly Step[],
  errors: FieldErrors,
): void {
  const fixed = ({ template: _t, preheader: _p, delay_hours: _d, variables: _v, ...rest }: Step) => rest;
  if (wanted.length !== current.length) {
    errors.steps ??= [`must be complete: a running sequence keeps its ${current.length} steps`];
    return;
  }
  wanted.forEach((step, index) => {
    const before = current[index];
    if (before && !isDeepStrictEqual(fixed(step), fixed(before)))
      errors[`steps.${index}`] ??= [
        'may differ in template, preheader, delay_hours and variables only while the sequence runs',
      ];
  });
}

/**
 * Throws AppError `conflict` for a change that decides who gets a running sequence or leaves it: people came
 * in by the old rules.
 */
export function refuseOthersMail(
  current: Pick<
    SequenceRow,
    'status' | 'list_id' | 'exit_events' | 'enroll_tags' | 'auto_enroll_new_contacts'
  >,
  wanted: Pick<SequenceRow, 'list_id' | 'exit_events' | 'enroll_tags' | 'auto_enroll_new_contacts'>,
): void {
  const isOther = (now: readonly string[], then: readonly string[]): boolean =>
    !isDeepStrictEqual([...new Set(now)].sort(), [...new Set(then)].sort());
  const fields = Object.entries({
    list: wanted.list_id !== current.list_id,
    exit_events: isOther(current.exit_events, wanted.exit_events),
    enroll_tags: isOther(current.enroll_tags, wanted.enroll_tags),
    auto_enroll_new_contacts: wanted.auto_enroll_new_contacts !== current.auto_enroll_new_contacts,
  }).flatMap(([field, is_other]) => (is_other ? [field] : []));
  if (fields.length > 0)
    throw conflict(
      `The sequence is ${current.status}: ${fields.join(', ')} may not change any more. Change them in a copy (POST .../copy, satchel sequence copy).`,
      { remedy: toDo('sequence', 'satchel sequence copy') },
    );
}

/** Names of events that are none, by field. */
export function refuseBadEvents(events: readonly string[], errors: FieldErrors): void {
  events.forEach((event, index) => {
    if (!EVENT_SLUG.test(event)) errors[`exit_events.${index}`] = [NO_EVENT];
  });
}
