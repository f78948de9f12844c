/** Fields of a broadcast: its name and list, the mail, and who of the list gets it. */
import { useMemo, useState } from 'preact/hooks';
import type { AbPlan, Broadcast, ContactFilter } from '../../api.generated.ts';
import { ApiError } from '../../api.ts';
import { CheckField, SelectField } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { hrefOf, to } from '../../router.ts';
import { useAll } from '../../use-load.ts';
import { readUtm, UtmFields } from '../marketing/utm-fields.tsx';
import { SegmentChoice } from '../segments/segment-choice.tsx';
import { newUid, type StepDraft } from '../sequences/step-draft.ts';
import { VariablesField } from '../sequences/variables-field.tsx';
import { BLANK } from '../writing/own-words.ts';
import { useTemplateChoices } from '../writing/start-from.tsx';
import { AbFields, readAb } from './ab-fields.tsx';

/** Parts of the form that are no fields of the browser's. */
export interface Draft {
  list: string;
  variables: StepDraft['variables'];
  /** An id, or empty for the filter. */
  segment: string;
  filter: ContactFilter;
}

interface DraftProps {
  project: string;
  draft: Draft;
  onChange(changes: Partial<Draft>): void;
}

type Written = Pick<
  Broadcast,
  'name' | 'list' | 'variables' | 'segment' | 'filter' | 'track_opens' | 'utm'
> & { ab: AbPlan | null };

/** Parts that somebody touched stay so; the rest is as the broadcast is, also once that is another version. */
export function useDraft(of?: Broadcast): Omit<DraftProps, 'project'> {
  const read = useMemo(() => readDraft(of), [of]);
  const [touched, setTouched] = useState<Partial<Draft>>({});
  return {
    draft: { ...read, ...touched },
    onChange: (changes) => setTouched((last) => ({ ...last, ...changes })),
  };
}

function readDraft(of: Broadcast | undefined): Draft {
  const variables = Object.entries(of?.variables ?? {});
  return {
    list: of?.list ?? '',
    segment: of?.segment ?? '',
    filter: (of?.segment ? null : of?.filter) ?? {},
    variables: variables.map(([name, value]) => ({ uid: newUid(), name, value })),
  };
}

/** Makes the request of a form's entries. Throws ApiError. */
export function writeBroadcast({ draft }: Pick<DraftProps, 'draft'>, entered: Entered): Written {
  // Before words are made for it.
  if (draft.list === '')
    throw new ApiError(422, { message: 'No list.', errors: { list: ['Choose a list.'] } });
  const variables = draft.variables.map(({ name, value }) => [name.trim(), value] as const);
  return {
    name: entered.text('name'),
    list: entered.text('list'),
    variables: Object.fromEntries(variables.filter(([name]) => name !== '')),
    segment: draft.segment || null,
    filter: draft.segment !== '' || Object.keys(draft.filter).length === 0 ? null : draft.filter,
    track_opens: entered.flag('track_opens'),
    utm: readUtm(entered),
    ab: readAb(entered),
  };
}

export function BroadcastFields(props: DraftProps & { of?: Broadcast }) {
  const { project, draft, onChange, of } = props;
  const templates = useTemplateChoices(of ? null : project);
  return (
    <>
      <Panel title="The broadcast">
        <div class="form">
          <TextField
            name="name"
            label="Name"
            value={of?.name}
            placeholder="June news"
            hint="For you: readers see the subject of the mail."
            is_focused={!of}
          />
          <ListField {...props} />
          {!of && (
            <SelectField
              name="begin"
              label="Begin with"
              choices={[[BLANK, 'A blank letter'], ...templates]}
              value={BLANK}
              hint="Its words are copied: they are the broadcast's own, and are written on the next page."
            />
          )}
        </div>
      </Panel>
      <Panel title="Who gets it">
        <div class="form filter-form">
          <SegmentChoice
            // Its rows are its own: those of another version are other rows.
            key={JSON.stringify(of?.filter)}
            project={project}
            list={draft.list}
            chosen={draft}
            onChange={onChange}
          />
        </div>
      </Panel>
      <Panel title="A/B test">
        <div class="form">
          <AbFields key={JSON.stringify(of?.ab?.variants)} of={of?.ab} />
        </div>
      </Panel>
      <Panel title={of ? 'Its values, and counting' : 'Counting'}>
        <div class="form">
          {of && (
            <VariablesField
              name="variables"
              of={draft.variables}
              template={undefined}
              onChange={(variables) => onChange({ variables })}
            />
          )}
          <CheckField
            name="track_opens"
            label="Count opens"
            hint="Puts a picture of one pixel into each mail. Many programs open it by themselves: clicks tell more."
            is_checked={of?.track_opens}
          />
          <UtmFields of={of?.utm} />
        </div>
      </Panel>
    </>
  );
}

function ListField({ project, draft, onChange, of }: DraftProps & { of?: Broadcast }) {
  const lists = useAll('GET /projects/{project}/email-lists', { path: { project } });
  const choices = (lists.data ?? []).map(({ id, name }): [string, string] => [id, name]);
  // The present list is offered before the others are loaded, so that whoever saves by then does not change it.
  if (of && !choices.some(([id]) => id === of.list))
    choices.unshift([of.list, lists.data ? `${of.list}, archived` : of.list]);
  return (
    <SelectField
      name="list"
      label="List"
      choices={of ? choices : [['', 'Choose a list'], ...choices]}
      value={draft.list}
      // A segment is of one list.
      onChange={(list) => onChange({ list, segment: '' })}
      hint={
        lists.data?.length === 0 && (
          <>
            The project has no list yet:{' '}
            <a href={hrefOf(to`/projects/${project}/lists/new`)}>make one first</a>.
          </>
        )
      }
    />
  );
}
