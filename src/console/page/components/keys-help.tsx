/** The keys of the console, which `?` shows. */
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';

const KEYS = [
  ['Ctrl K  or  /', 'Search, go anywhere, and do: “nk” is New key'],
  ['↑ ↓', 'From one line of a table or of what was found to the next'],
  ['Esc', 'Close what is open, and go back to where it was opened'],
  ['Ctrl S', 'Where a mail is written: save it at once'],
  ['Ctrl Enter', 'Where a mail is written: send a test of it'],
  ['Tab', 'To the next field or button'],
  ['?', 'These keys'],
] as const;

export function KeysHelp() {
  const [is_open, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      const is_typing =
        event.target instanceof Element &&
        event.target.matches('input, textarea, select, .editor, .editor *');
      if (event.key !== '?' || is_typing || document.querySelector('dialog[open]')) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  if (!is_open) return null;
  return (
    <Dialog title="Keys" onClose={() => setOpen(false)}>
      <dl class="facts keys">
        {KEYS.map(([keys, what]) => (
          <>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}
