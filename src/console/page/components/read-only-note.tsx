/** Tells whoever is read-only so, once. */
import { useState } from 'preact/hooks';
import type { SignedIn } from '../api.generated.ts';

export function ReadOnlyNote({ person }: { person: SignedIn }) {
  const name = `satchel.read-only-told.${person.id}`;
  const [is_told, setTold] = useState(() => localStorage.getItem(name) !== null);
  if (!person.read_only || is_told) return null;
  const close = (): void => {
    localStorage.setItem(name, '1');
    setTold(true);
  };
  return (
    <div class="notice above" role="status">
      <p>
        <strong>You may look, and change nothing.</strong> So there are no buttons that add, change or send.
        Whoever runs this Satchel can let you do more.
      </p>
      <button type="button" class="button small" onClick={close}>
        Understood
      </button>
    </div>
  );
}
