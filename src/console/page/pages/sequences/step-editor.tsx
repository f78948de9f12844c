/** One step in the editor. `name` is the API's, as `steps.2`, so that what it refuses stands beside the field that it means. */
import type { TemplateSummary } from '../../api.generated.ts';
import { CheckField } from '../../components/check-field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { ConditionField } from './condition-field.tsx';
import type { DelayUnit, Otherwise, StepDraft } from './step-draft.ts';
import { VariablesField } from './variables-field.tsx';

export interface StepEditorProps {
  name: string;
  of: StepDraft;
  templates: readonly TemplateSummary[];
  /** All tracks that steps are in. */
  tracks: readonly string[];
  onChange(step: StepDraft): void;
}

/** Of a draft: everything. */
export function StepEditor(props: StepEditorProps) {
  const { name, of, tracks, onChange } = props;
  const elsewhere = tracks.filter((track) => track !== of.track && track !== '');
  const OTHERWISE: [Otherwise, string][] = [
    ['skip', 'the step is skipped'],
    ['exit', 'the contact leaves the sequence'],
    ['route', 'the contact goes on in another track'],
  ];
  return (
    <div class="step-fields">
      <TextField
        name={`${name}.key`}
        label="Key"
        value={of.key}
        hint="Names the step in numbers and in the API."
        is_mono
        onInput={(key) => onChange({ ...of, key })}
      />
      <TextField
        name={`${name}.track`}
        label="Track"
        value={of.track}
        hint="Everybody begins in the track of the first step."
        is_mono
        onInput={(track) => onChange({ ...of, track })}
      />
      <StepMail {...props} />
      <ConditionField
        name={`${name}.condition`}
        label="Sent if"
        of={of.condition}
        onChange={(condition) => onChange({ ...of, condition })}
      />
      {of.condition.type !== 'always' && (
        <SelectField
          name={`${name}.condition.else`}
          label="Otherwise"
          choices={OTHERWISE}
          value={of.otherwise}
          onChange={(chosen) =>
            onChange({ ...of, otherwise: OTHERWISE.find(([each]) => each === chosen)?.[0] ?? 'skip' })
          }
        />
      )}
      {of.condition.type !== 'always' && of.otherwise === 'route' && (
        <TextField
          name={`${name}.condition.else.route_to`}
          label="In the track"
          value={of.route_to}
          hint={
            elsewhere.length > 0
              ? `There are: ${elsewhere.join(', ')}.`
              : 'Give the steps of it the same track.'
          }
          is_mono
          onInput={(route_to) => onChange({ ...of, route_to })}
        />
      )}
      <div class="whole">
        <CheckField
          name={`${name}.is_final`}
          label="Final: the track ends here"
          hint="The last step of each track, and no other."
          is_checked={of.is_final}
          onChange={(is_final) => onChange({ ...of, is_final })}
        />
      </div>
      <StepVariables {...props} />
    </div>
  );
}

/** Of one that runs: template, delay and variables. */
export function RunningStepEditor(props: StepEditorProps & { condition: string }) {
  const { of, condition } = props;
  return (
    <>
      <p class="muted">
        In the track {of.track}
        {condition === 'always' ? '' : `, sent if ${condition}`}
        {of.is_final ? '; the track ends here' : ''}.
      </p>
      <div class="step-fields">
        <StepMail {...props} />
        <StepVariables {...props} />
      </div>
    </>
  );
}

function StepMail({ name, of, templates, onChange }: StepEditorProps) {
  const known = templates.map(({ slug, name: title, is_active }): [string, string] => [
    slug,
    `${title === slug ? slug : `${title} (${slug})`}${is_active ? '' : ', inactive'}`,
  ]);
  const is_known = known.some(([slug]) => slug === of.template);
  const choices: [string, string][] = [
    ...(of.template === '' ? [['', 'Choose a template'] as [string, string]] : []),
    ...(of.template === '' || is_known
      ? []
      : [[of.template, `${of.template}, not there`] as [string, string]]),
    ...known,
  ];
  const UNITS: [DelayUnit, string][] = [
    ['hours', 'hours'],
    ['days', 'days'],
  ];
  return (
    <>
      <SelectField
        name={`${name}.template`}
        label="Template"
        choices={choices}
        value={of.template}
        hint={known.length === 0 ? 'There is none yet: write one under Templates, for sequences.' : undefined}
        onChange={(template) => onChange({ ...of, template })}
      />
      <div class="delay">
        <TextField
          name={`${name}.delay_hours`}
          label="Sent after"
          value={of.delay}
          hint="Counts from the mail before, once its relay took it; of the first step, from enrolling. 0 is at once."
          onInput={(delay) => onChange({ ...of, delay })}
        />
        <SelectField
          name={`${name}.unit`}
          label="Unit"
          choices={UNITS}
          value={of.unit}
          onChange={(unit) => onChange({ ...of, unit: unit === 'days' ? 'days' : 'hours' })}
        />
      </div>
    </>
  );
}

function StepVariables({ name, of, templates, onChange }: StepEditorProps) {
  return (
    <div class="whole">
      <VariablesField
        name={`${name}.variables`}
        of={of.variables}
        template={templates.find(({ slug }) => slug === of.template)}
        onChange={(variables) => onChange({ ...of, variables })}
      />
    </div>
  );
}
