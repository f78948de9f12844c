/** What is said about a stored value: when it ends, and a note for all who read the vault. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { Dialog } from '../../components/dialog.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { TextField } from '../../components/text-field.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import type { ServicePartProps } from './service.tsx';

interface Of extends ServicePartProps {
  field: string;
  label: string;
}

export function About({ metadata, field }: Pick<Of, 'metadata' | 'field'>) {
  const { expires_at = null, note = null } = metadata?.about[field] ?? {};
  if (expires_at === null && note === null) return null;
  return (
    <p class="muted fine">
      {expires_at !== null && (
        <>
          ends <Time at={expires_at} />
          {note !== null && ' · '}
        </>
      )}
      {note}
    </p>
  );
}

/** Says when a value of this environment ends, and what is noted about it. */
export function AboutButton(props: Of) {
  const { path, query, metadata, etag, field, label, onChange } = props;
  const [is_open, setOpen] = useState(false);
  if (!may('can_write_vault') || !metadata || metadata.inherited.includes(field)) return null;
  const { expires_at = null, note = null } = metadata.about[field] ?? {};
  const close = (): void => setOpen(false);
  const store = async (entered: Entered): Promise<void> => {
    const [day, text] = [entered.text('expires_at'), entered.text('note')];
    // The day that was there may stand for a moment of it.
    const ends = day === (expires_at?.slice(0, 10) ?? '') ? {} : { expires_at: day || null };
    const about = { [field]: { ...ends, note: text || null } };
    const body = { values: {}, about };
    await call('PUT /projects/{project}/vault/{service}', { path, query, if_match: entered.version, body });
    toast(`Noted about ${label}`);
    onChange();
    close();
  };
  return (
    <>
      <button
        type="button"
        class="button small"
        aria-label={`Remind of ${label}`}
        onClick={() => setOpen(true)}
      >
        Remind
      </button>
      {is_open && (
        <Dialog title={`About ${label}`} onClose={close}>
          <Form submit="Save" version={etag} onSubmit={store} onCancel={close}>
            <TextField
              name="expires_at"
              type="date"
              label="Ends"
              value={expires_at?.slice(0, 10) ?? ''}
              hint="From 14 days before, Home and doctor remind of it. Another value takes it away."
              is_focused
            />
            <TextField name="note" label="Note" value={note} hint="All who read the vault see it." />
          </Form>
        </Dialog>
      )}
    </>
  );
}
