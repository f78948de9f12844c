/** Shows a mail as its reader sees it while it is written, with the values of whoever is chosen, and its faults. */
import { useState } from 'preact/hooks';
import type { Answer } from '../../api.ts';
import { ErrorBox } from '../../components/error-box.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Icon } from '../../components/icon.tsx';
import { MailView } from '../../components/mail-view.tsx';
import { Panel } from '../../components/page.tsx';
import { Choice } from '../../components/tabs.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useAll, useLoad } from '../../use-load.ts';
import { useRested } from '../../use-rested.ts';
import { ContactPicker, type Picked } from '../sequences/contact-picker.tsx';
import { mergeFieldsOf, nestValues } from '../templates/merge-fields.ts';
import { isEmpty, type MailKind, type Reader, requestOf } from './mail.ts';
import type { Words } from './words.ts';

type Preview = Answer<'POST /projects/{project}/email-templates/preview'>;

interface ReaderViewProps {
  words: Words;
  kind: MailKind;
  reader: Reader;
  onReader(reader: Reader): void;
}

export function ReaderView({ words, kind, reader, onReader }: ReaderViewProps) {
  const asked = useRested({ words, reader });
  const is_empty = isEmpty(words) || isEmpty(asked.words);
  const load = useLoad(
    'POST /projects/{project}/email-templates/preview',
    is_empty ? null : { path: { project: kind.project }, body: requestOf(asked.words, kind, asked.reader) },
  );
  const { data, error } = load;
  return (
    <Panel title="What a reader sees">
      <div class="stack reader-view">
        {is_empty && <p class="muted">There is nothing to show yet: write what it says.</p>}
        {error && <ErrorBox error={error} />}
        {data && !is_empty && (
          <>
            <InboxLine of={data} />
            <Problems of={data} />
            <MailView title="The mail as its readers see it" html={data.body_html} text={data.body_text} />
          </>
        )}
        <ReaderChoice words={words} kind={kind} reader={reader} onReader={onReader} />
      </div>
    </Panel>
  );
}

/** As it stands in an inbox, cut as that cuts it. */
function InboxLine({ of: { subject, preheader } }: { of: Preview }) {
  return (
    <p class="inbox-line">
      <Icon name="mail" />
      <span>
        <strong>{subject || 'No subject'}</strong>
        {preheader && <span class="muted"> {preheader}</span>}
      </span>
    </p>
  );
}

const PROBLEMS: Readonly<Record<Preview['problems'][number]['code'], string>> = {
  missing_value: 'A value is missing',
  dead_link: 'A link leads nowhere',
  no_unsubscribe: 'Nobody could leave',
};

function Problems({ of: { problems } }: { of: Preview }) {
  return (
    <div role="status">
      {problems.length > 0 && (
        <ul class="notice warn mail-problems">
          {problems.map(({ code, message }) => (
            <li key={message}>
              <strong>{PROBLEMS[code]}.</strong> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function ReaderChoice({ words, kind, reader, onReader }: ReaderViewProps) {
  const [whose, setWhose] = useState<'sample' | 'contact'>('sample');
  const [picked, setPicked] = useState<Picked[]>([]);
  const fields = kind.is_marketing ? [] : mergeFieldsOf(words);
  const sampleOf = new Map(Object.entries(reader.samples));
  return (
    <details class="more">
      <summary>With whose values?</summary>
      <div class="stack">
        <Choice<'sample' | 'contact'>
          label="Whose values"
          choices={[
            ['sample', 'A sample'],
            ['contact', 'A contact'],
          ]}
          now={whose}
          onChoose={(chosen) => {
            setWhose(chosen);
            onReader({ ...reader, contact: chosen === 'contact' ? (picked[0]?.id ?? null) : null });
          }}
        />
        {whose === 'contact' && (
          <ContactChoice
            kind={kind}
            picked={picked}
            onPick={(chosen) => {
              setPicked(chosen);
              onReader({ ...reader, contact: chosen[0]?.id ?? null });
            }}
          />
        )}
        {fields.length > 0 && (
          <fieldset class="samples">
            <legend class="field-label">Values to look with</legend>
            {fields.map(({ name, description }) => (
              <TextField
                key={name}
                name={`sample.${name}`}
                label={name}
                hint={description}
                value={String(sampleOf.get(name) ?? '')}
                placeholder={`Sample ${name}`}
                onInput={(value) =>
                  onReader({ ...reader, samples: nestValues([...flat(reader.samples), [name, value]]) })
                }
              />
            ))}
          </fieldset>
        )}
      </div>
    </details>
  );
}

/** `{user: {name: 'Ann'}}` is `[['user.name', 'Ann']]`. */
function flat(values: Readonly<Record<string, unknown>>, at = ''): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null
      ? flat({ ...value }, `${at}${name}.`)
      : [[at + name, String(value)]],
  );
}

function ContactChoice(props: { kind: MailKind; picked: readonly Picked[]; onPick(picked: Picked[]): void }) {
  const { kind, picked, onPick } = props;
  const { project } = kind;
  const lists = useAll('GET /projects/{project}/email-lists', { path: { project } });
  const [chosen, setChosen] = useState<string | null>(null);
  const list = kind.list ?? chosen ?? lists.data?.[0]?.id ?? null;
  if (list === null) return lists.data && <p class="muted">The project has no list of contacts yet.</p>;
  return (
    <>
      {kind.list === null && (lists.data?.length ?? 0) > 1 && (
        <SelectField
          name="reader_list"
          label="Of the list"
          value={list}
          onChange={setChosen}
          choices={(lists.data ?? []).map(({ id, name }) => [id, name] as const)}
        />
      )}
      <ContactPicker
        name="reader"
        label="Contact"
        path={{ project, list }}
        picked={picked}
        is_single
        onPick={onPick}
      />
    </>
  );
}
