/** A step as it is being written: what was typed, before the API judges it. */
import type { NewStep, Step } from '../../api.generated.ts';
import { isObject } from '../../api.ts';
import { BLANK } from '../writing/own-words.ts';

export const CONDITION_TYPES = {
  always: 'always',
  clicked: 'a link of the mail before was clicked',
  not_clicked: 'no link of the mail before was clicked',
  event: 'an event happened',
  no_event: 'an event did not happen',
  all: 'all of these hold',
} as const;
export type ConditionType = keyof typeof CONDITION_TYPES;

export interface ConditionDraft {
  /** Of this page only: what is typed stays with its part where others come and go. */
  uid: number;
  type: ConditionType;
  event: string;
  of: ConditionDraft[];
}

export type DelayUnit = 'hours' | 'days';
export type Otherwise = 'skip' | 'exit' | 'route';

export interface StepDraft {
  uid: number;
  key: string;
  track: string;
  template: string;
  preheader: string;
  delay: string;
  unit: DelayUnit;
  condition: ConditionDraft;
  otherwise: Otherwise;
  route_to: string;
  variables: { uid: number; name: string; value: string }[];
}

let last_uid = 0;
export function newUid(): number {
  last_uid += 1;
  return last_uid;
}

export function newCondition(type: ConditionType): ConditionDraft {
  return { uid: newUid(), type, event: '', of: [] };
}

function isConditionType(type: unknown): type is ConditionType {
  return typeof type === 'string' && Object.hasOwn(CONDITION_TYPES, type);
}

function readCondition(condition: unknown): ConditionDraft {
  const { type, event, of } = isObject(condition) ? condition : {};
  return {
    uid: newUid(),
    type: isConditionType(type) ? type : 'always',
    event: typeof event === 'string' ? event : '',
    of: Array.isArray(of) ? of.map(readCondition) : [],
  };
}

function readOtherwise(otherwise: unknown): Pick<StepDraft, 'otherwise' | 'route_to'> {
  if (isObject(otherwise)) return { otherwise: 'route', route_to: String(otherwise.route_to ?? '') };
  return { otherwise: otherwise === 'exit' ? 'exit' : 'skip', route_to: '' };
}

/** The track where a step leads whose condition does not hold; null where it leads nowhere else, or nowhere yet. */
export function routeOf({ condition, otherwise, route_to }: StepDraft): string | null {
  return (otherwise === 'route' && condition.type !== 'always' && route_to.trim()) || null;
}

/** Track by track, each in its order. */
export function readSteps(steps: readonly Step[]): StepDraft[] {
  return tracksOf(steps).flatMap((track) => track.steps.map(readStep));
}

function readStep(step: Step): StepDraft {
  const in_days = step.delay_hours > 0 && step.delay_hours % 24 === 0;
  return {
    uid: newUid(),
    key: step.key,
    track: step.track,
    template: step.template,
    preheader: step.preheader ?? '',
    delay: String(in_days ? step.delay_hours / 24 : step.delay_hours),
    unit: in_days ? 'days' : 'hours',
    condition: readCondition(step.condition),
    ...readOtherwise(step.condition.else),
    variables: Object.entries(step.variables).map(([name, value]) => ({
      uid: newUid(),
      name,
      value: String(value),
    })),
  };
}

/** One more beside these, at the end of its track: a day later, where it is not the first of it. */
export function newStep(steps: readonly StepDraft[], track: string): StepDraft {
  const names = new Set(steps.map(({ key }) => key));
  let n = steps.length + 1;
  while (names.has(`step-${n}`)) n += 1;
  const is_first = !steps.some((step) => step.track === track);
  return {
    uid: newUid(),
    key: `step-${n}`,
    track,
    template: BLANK,
    preheader: '',
    delay: is_first ? '0' : '1',
    unit: is_first ? 'hours' : 'days',
    condition: newCondition('always'),
    otherwise: 'skip',
    route_to: '',
    variables: [],
  };
}

function writeCondition({ type, event, of }: ConditionDraft): Record<string, unknown> {
  if (type === 'event' || type === 'no_event') return { type, event: event.trim() };
  return type === 'all' ? { type, of: of.map(writeCondition) } : { type };
}

/** A text that is no number becomes one that the API refuses, as its refusal says what it takes. */
function readHours(delay: string, unit: DelayUnit): number {
  const hours = Number(delay.trim() || 0) * (unit === 'days' ? 24 : 1);
  return Number.isFinite(hours) ? hours : -1;
}

/** As the API takes it. */
export function writeStep(step: StepDraft): Omit<NewStep, 'is_final' | 'position'> {
  const { key, track, template, preheader, delay, unit, condition, otherwise, route_to, variables } = step;
  const named = variables.filter(({ name }) => name.trim() !== '');
  return {
    key: key.trim(),
    track,
    template,
    ...(preheader.trim() !== '' && { preheader: preheader.trim() }),
    delay_hours: readHours(delay, unit),
    variables: Object.fromEntries(named.map(({ name, value }) => [name.trim(), value])),
    condition: {
      ...writeCondition(condition),
      ...(condition.type !== 'always' && {
        else: otherwise === 'route' ? { route_to: route_to.trim() } : otherwise,
      }),
    },
  };
}

/** The tracks that steps stand in. */
export interface Track<Step> {
  name: string;
  steps: Step[];
}

/** Each track with its steps in their order; the first is where everybody begins. */
export function tracksOf<Step extends { track: string; position?: number }>(
  steps: readonly Step[],
): Track<Step>[] {
  const names = [...new Set(steps.map(({ track }) => track))];
  return names.map((name) => ({
    name,
    steps: steps
      .filter(({ track }) => track === name)
      .toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0)),
  }));
}
