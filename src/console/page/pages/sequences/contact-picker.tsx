/** Looking for contacts of a list by the beginning of their address or name, and taking some. */
import { useState } from 'preact/hooks';
import type { Contact } from '../../api.generated.ts';
import { useFieldErrors } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Status } from '../../components/status.tsx';
import { useLoad } from '../../use-load.ts';
import { useRested } from '../../use-rested.ts';

const SHOWN = 6;

export type Picked = Pick<Contact, 'id' | 'email'>;

export function ContactPicker(props: {
  /** The API's, whose refusals stand here. */
  name: string;
  label: string;
  path: { project: string; list: string };
  picked: readonly Picked[];
  is_single?: boolean;
  onPick(picked: Picked[]): void;
}) {
  const { name, label, picked, is_single, onPick } = props;
  const wrong = useFieldErrors(name);
  return (
    <fieldset class="field" name={name}>
      <legend class="field-label">{label}</legend>
      {picked.length > 0 && (
        <ul class="picked" aria-label="Taken">
          {picked.map((contact) => (
            <li key={contact.id}>
              <span>{contact.email}</span>
              <button
                type="button"
                class="button quiet square"
                aria-label={`Leave out ${contact.email}`}
                onClick={() => onPick(picked.filter(({ id }) => id !== contact.id))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {(!is_single || picked.length === 0) && <Finder {...props} />}
      {wrong.length > 0 && <p class="wrong">{wrong.join(' ')}</p>}
    </fieldset>
  );
}

function Finder({ path, picked, onPick, is_single }: Parameters<typeof ContactPicker>[0]) {
  const [typed, setTyped] = useState('');
  const q = useRested(typed.trim());
  const found = useLoad(
    'GET /projects/{project}/email-lists/{list}/contacts',
    q === '' ? null : { path, query: { q, per_page: SHOWN } },
  );
  const hits =
    q === '' ? [] : (found.data?.data ?? []).filter(({ id }) => !picked.some((each) => each.id === id));
  return (
    <>
      <input
        class="input"
        type="search"
        aria-label="Address or name of a contact"
        placeholder="Address or name"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Enter takes the first that is found; it does not send the form.
          if (event.key !== 'Enter') return;
          event.preventDefault();
          const [first] = hits;
          if (first) onPick(is_single ? [first] : [...picked, first]);
        }}
      />
      {found.error && <p class="wrong">{found.error.message}</p>}
      {q !== '' && found.data && hits.length === 0 && <p class="hint">Nobody on the list begins so.</p>}
      {hits.length > 0 && (
        <ul class="hits" aria-label="Found">
          {hits.map((contact) => (
            <li key={contact.id}>
              <button
                type="button"
                class="button quiet"
                aria-label={`Take ${contact.email}`}
                onClick={() => onPick(is_single ? [contact] : [...picked, contact])}
              >
                <Icon name="plus" size={14} />
                <span>{contact.email}</span>
                <Status of={contact.status} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
