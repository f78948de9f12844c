/** Looks one address up: asked for as a whole, as only whole addresses have a hash to find. */
import { useEffect, useState } from 'preact/hooks';
import { addressIn } from '../../components/address.ts';
import { setQuery, useQuery } from '../../router.ts';

export function LookUp() {
  const now = useQuery().get('email') ?? '';
  const [typed, setTyped] = useState(now);
  useEffect(() => setTyped(now), [now]);
  return (
    <search aria-label="Filters">
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ email: addressIn(typed) });
        }}
      >
        <input
          class="input"
          type="text"
          inputMode="email"
          aria-label="Whole address"
          placeholder="ann@example.org"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="button">
          Look up
        </button>
        {now !== '' && (
          <button type="button" class="button quiet" onClick={() => setQuery({ email: '' })}>
            Show all
          </button>
        )}
      </form>
    </search>
  );
}
