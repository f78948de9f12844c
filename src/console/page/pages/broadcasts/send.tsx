/** Sending a broadcast, now or at a time, once somebody has agreed to the number of people. */
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../api.ts';
import { askFirst } from '../../components/ask-first.tsx';
import { SelectField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { counted } from '../../components/quantity.tsx';
import { TextField } from '../../components/text-field.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { serverNow } from '../../time.ts';
import type { BroadcastPartProps } from './part.tsx';

const NOW = 'now';

export function Send({ path, of, onChange, onRefused }: BroadcastPartProps & { onRefused(): void }) {
  const [when, setWhen] = useState(of.status === 'scheduled' ? 'later' : NOW);
  const send = async (entered: Entered): Promise<void> => {
    const send_at = when === NOW ? null : momentOf(entered.text('send_at'));
    const found = await call('GET /projects/{project}/email-broadcasts/{broadcast}/check', { path });
    if (!found.ready) {
      // Above stands each thing that it lacks, with the place where it is mended.
      onRefused();
      throw new Error('It cannot be sent yet: see above what is missing.');
    }
    const people = counted(found.recipients, 'person');
    await askFirst({
      title: send_at === null ? `Mail ${people} now?` : `Mail ${people} at that time?`,
      submit: send_at === null ? `Mail ${people}` : 'Schedule it',
      told: <Consequence of={of.name} send_at={send_at} is_captured={found.captured} />,
    });
    await post(send_at);
  };
  const post = async (send_at: string | null): Promise<void> => {
    try {
      await call('POST /projects/{project}/email-broadcasts/{broadcast}/send', { path, body: { send_at } });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'send_refused') onRefused();
      throw error;
    }
    toast(send_at === null ? 'It is on its way' : 'It is scheduled');
    onChange();
  };
  return (
    <Form is_fleeting submit={when === NOW ? 'Send it now' : 'Schedule it'} onSubmit={send}>
      <SelectField
        name="when"
        label="When"
        value={when}
        onChange={setWhen}
        choices={[
          [NOW, 'Now'],
          ['later', 'At a time'],
        ]}
      />
      {when !== NOW && (
        <TextField
          name="send_at"
          label="Date and time"
          type="datetime-local"
          value={of.send_at === null ? '' : localOf(of.send_at)}
          hint="In your time zone. It is checked again then: what is not ready by that time pauses rather than goes out."
        />
      )}
    </Form>
  );
}

function Consequence(props: { of: string; send_at: string | null; is_captured: boolean }) {
  const { of, send_at, is_captured } = props;
  if (is_captured) return <p>All mailboxes capture: the mails of {of} are kept, and nobody gets one.</p>;
  if (send_at !== null)
    return (
      <p>
        {of} begins to go out <Time at={send_at} exact />. Until then you can change it, or take it back. Who
        is on the list at that time counts.
      </p>
    );
  return (
    <p>
      {of} begins to go out at once. You can pause or cancel it while it does; a mail that is out cannot be
      taken back.
    </p>
  );
}

/** Throws ApiError for what is no moment to come: nobody is asked about that. */
function momentOf(entered: string): string {
  const at = new Date(entered).getTime();
  if (at > serverNow()) return new Date(at).toISOString();
  const send_at = ['Choose a date and a time to come.'];
  throw new ApiError(422, { message: 'There is no such time.', errors: { send_at } });
}

/** As a field for date and time has it. */
function localOf(moment: string): string {
  const at = new Date(moment);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
