/** The fields of one step. `name` is the API's, as `steps.2`, so that what it refuses stands beside the field that it means. */
import type { TemplateSummary } from '../../api.generated.ts';
import { SelectField } from '../../components/fields.tsx';
import { TextField } from '../../components/text-field.tsx';
import { BLANK } from '../writing/own-words.ts';
import { isOwnSlug } from '../writing/words.ts';
import { ConditionField } from './condition-field.tsx';
import {
  CONDITION_TYPES,
  type ConditionDraft,
  type DelayUnit,
  type Otherwise,
  type StepDraft,
  type Track,
} from './step-draft.ts';
import { VariablesField } from './variables-field.tsx';

const UNITS: [DelayUnit, string][] = [
  ['hours', 'hours'],
  ['days', 'days'],
];
const OTHERWISE: [Otherwise, string][] = [
  ['skip', 'this mail is skipped'],
  ['exit', 'they leave the sequence'],
  ['route', 'they go on in another track'],
];

interface StepFieldsProps {
  name: string;
  of: StepDraft;
  /** Of one that runs only the mail and when it comes can change. */
  is_draft: boolean;
  from: CountsFrom;
  templates: readonly TemplateSummary[];
  /** All tracks of the sequence. */
  tracks: readonly string[];
  onChange(change: Partial<StepDraft>): void;
}

export function StepFields(props: StepFieldsProps) {
  const { name, of, is_draft, from, templates, tracks, onChange } = props;
  return (
    <div class="step-fields">
      {is_draft && (
        <TextField
          name={`${name}.key`}
          label="Key"
          value={of.key}
          hint="Names the step in numbers and in the API."
          is_mono
          onInput={(key) => onChange({ key })}
        />
      )}
      <TemplateField {...props} />
      <div class="delay">
        <TextField
          name={`${name}.delay_hours`}
          label="Sent after"
          value={of.delay}
          hint={from === 'the mail before was sent' ? 'From when a relay took it.' : `From ${from}.`}
          onInput={(delay) => onChange({ delay })}
        />
        <SelectField
          name={`${name}.unit`}
          label="Unit"
          choices={UNITS}
          value={of.unit}
          onChange={(unit) => onChange({ unit: unit === 'days' ? 'days' : 'hours' })}
        />
      </div>
      {is_draft && (
        <ConditionField
          name={`${name}.condition`}
          label="Sent if"
          of={of.condition}
          onChange={(condition) => onChange({ condition })}
        />
      )}
      {is_draft && of.condition.type !== 'always' && <OtherwiseFields {...props} />}
      {is_draft && tracks.length > 1 && (
        <SelectField
          name={`${name}.track`}
          label="Track"
          choices={tracks.map((track) => [track, track])}
          value={of.track}
          onChange={(track) => onChange({ track })}
        />
      )}
      <VariablesField
        name={`${name}.variables`}
        of={of.variables}
        template={templates.find(({ slug }) => slug === of.template)}
        onChange={(variables) => onChange({ variables })}
      />
    </div>
  );
}

const OWN = 'Its own';

function TemplateField({ name, of, templates, onChange }: StepFieldsProps) {
  const known = templates
    .filter(({ is_own, slug }) => !is_own || slug === of.template)
    .map(({ slug, name: title, is_active, is_own }): [string, string] => [
      slug,
      is_own ? OWN : `${title === slug ? slug : `${title} (${slug})`}${is_active ? '' : ', inactive'}`,
    ]);
  if (!known.some(([slug]) => isOwnSlug(slug))) known.unshift([BLANK, OWN]);
  if (!known.some(([slug]) => slug === of.template))
    known.unshift([of.template, templates.length === 0 ? of.template : `${of.template}, not there`]);
  return (
    <SelectField
      name={`${name}.template`}
      label="Words"
      choices={known}
      value={of.template}
      hint="A template's are copied once they are written here."
      onChange={(template) => onChange({ template })}
    />
  );
}

function OtherwiseFields({ name, of, tracks, onChange }: StepFieldsProps) {
  return (
    <>
      <SelectField
        name={`${name}.condition.else`}
        label="Otherwise"
        choices={OTHERWISE}
        value={of.otherwise}
        onChange={(chosen) =>
          onChange({ otherwise: OTHERWISE.find(([each]) => each === chosen)?.[0] ?? 'skip' })
        }
      />
      {of.otherwise === 'route' && (
        <TextField
          name={`${name}.condition.else.route_to`}
          label="Track to go on in"
          value={of.route_to}
          list={tracks.filter((track) => track !== of.track)}
          hint="A new name begins a new track."
          is_mono
          onInput={(route_to) => onChange({ route_to })}
        />
      )}
    </>
  );
}

/** A step as people say it, as it is being written: when it comes, on what condition, and what happens otherwise. */
type CountsFrom = 'being enrolled' | 'coming to this track' | 'the mail before was sent';

/** The moment that the delay of a step counts from. */
export function countsFrom(step: StepDraft, tracks: readonly Track<StepDraft>[]): CountsFrom {
  const index = tracks.findIndex(({ steps: [first] }) => first === step);
  if (index < 0) return 'the mail before was sent';
  return index === 0 ? 'being enrolled' : 'coming to this track';
}

/** "2 days after the mail before was sent", "At once after being enrolled". */
export function tellDelay({ delay, unit }: StepDraft, from: CountsFrom): string {
  const amount = delay.trim();
  if (amount === '' || Number(amount) === 0) return `At once after ${from}`;
  return `${amount} ${Number(amount) === 1 ? unit.slice(0, -1) : unit} after ${from}`;
}

/** The end of "Only if ..."; empty where there is no condition. */
export function tellCondition({ type, event, of }: ConditionDraft): string {
  if (type === 'always') return '';
  if (type === 'clicked' || type === 'not_clicked') return CONDITION_TYPES[type];
  if (type === 'event') return `${event || 'an event'} happened since being enrolled`;
  if (type === 'no_event') return `${event || 'an event'} did not happen since being enrolled`;
  return of
    .map(tellCondition)
    .filter((told) => told !== '')
    .join(', and ');
}

/** The end of "Otherwise ..." */
export function tellOtherwise({ otherwise, route_to }: StepDraft): string {
  if (otherwise === 'skip') return 'this mail is skipped';
  return otherwise === 'exit' ? 'they leave the sequence' : `they go on in the track ${route_to || '…'}`;
}
