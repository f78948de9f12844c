/** Shows which mails of a sequence somebody would get, and when, with imagined answers. Nothing is stored or sent. */
import { useEffect, useState } from 'preact/hooks';
import { type Answer, ApiError, call } from '../../api.ts';
import { CheckField } from '../../components/fields.tsx';
import { type Entered, Form, useFieldErrors } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { ContactPicker, type Picked } from './contact-picker.tsx';
import type { SequencePartProps } from './detail.tsx';
import { RowsField } from './rows-field.tsx';
import { newUid } from './step-draft.ts';
import { Timeline } from './timeline.tsx';

export type Seen = Answer<'POST /projects/{project}/email-sequences/{sequence}/preview'>;
interface ImaginedEvent {
  uid: number;
  event: string;
  after: string;
}

export function Preview({ path, of }: SequencePartProps) {
  const [contact, setContact] = useState<Picked[]>([]);
  const [events, setEvents] = useState<ImaginedEvent[]>([]);
  const [seen, setSeen] = useState<Seen | null>(null);
  const ask = async (entered: Entered): Promise<void> => {
    const start = entered.text('start_at');
    const body = {
      contact: contact[0]?.id ?? null,
      start_at: start === '' ? null : new Date(start).toISOString(),
      events: events.map(({ event, after }) => ({ event: event.trim(), after_hours: Number(after) || 0 })),
      clicks: entered.all('clicks'),
    };
    setSeen(await call('POST /projects/{project}/email-sequences/{sequence}/preview', { path, body }));
  };
  // As it goes for somebody who answers nothing, before anything is imagined.
  useEffect(() => {
    call('POST /projects/{project}/email-sequences/{sequence}/preview', { path, body: {} }).then(
      setSeen,
      (error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
      },
    );
  }, []);
  return (
    <div class="preview-columns">
      <Panel title="Imagine" lead="Somebody who is enrolled, and what they do. Nothing is stored or sent.">
        <Form is_fleeting is_for_readers submit="Show what comes" onSubmit={ask}>
          <ContactPicker
            name="contact"
            label="Contact (a sample unless chosen)"
            path={{ project: path.project, list: of.list }}
            picked={contact}
            is_single
            onPick={setContact}
          />
          <TextField
            name="start_at"
            label="Enrolled at"
            type="datetime-local"
            hint="In your time zone. Empty: now."
          />
          <Clicks keys={of.steps.map(({ key }) => key)} />
          <Events of={events} onChange={setEvents} />
        </Form>
      </Panel>
      <Panel title="What comes">
        <div role="status">{seen && <Timeline of={seen} />}</div>
      </Panel>
    </div>
  );
}

function Clicks({ keys }: { keys: readonly string[] }) {
  const wrong = useFieldErrors('clicks');
  if (keys.length === 0) return null;
  return (
    <fieldset class="field">
      <legend class="field-label">Clicks in the mail of</legend>
      <div class="checks">
        {keys.map((key) => (
          <CheckField key={key} name="clicks" value={key} label={key} />
        ))}
      </div>
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
    </fieldset>
  );
}

function Events({ of, onChange }: { of: ImaginedEvent[]; onChange(events: ImaginedEvent[]): void }) {
  return (
    <RowsField
      name="events"
      label="Events"
      noun={['an', 'event']}
      of={of}
      makeRow={() => ({ uid: newUid(), event: '', after: '' })}
      onChange={onChange}
      cells={({ event, after }, index, set) => (
        <>
          <input
            class="input mono"
            aria-label={`Event ${index + 1}`}
            placeholder="purchased"
            value={event}
            onInput={(typed) => set({ event: typed.currentTarget.value })}
          />
          <input
            class="input"
            type="number"
            min="0"
            aria-label={`Hours after the enrollment of event ${index + 1}`}
            placeholder="hours after"
            value={after}
            onInput={(typed) => set({ after: typed.currentTarget.value })}
          />
        </>
      )}
    />
  );
}
