/** A button that does something at once: busy until it is done, and a notice of what the API said where it refused. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { mayWrite } from '../capabilities.ts';
import { Declined } from './ask-first.tsx';
import { tellError } from './refusal.ts';
import { toast } from './toast.tsx';

export function ActionButton(props: {
  act(): Promise<unknown>;
  /** Said once it is done. */
  done?: string;
  kind?: 'primary' | 'quiet' | 'bad';
  is_small?: boolean;
  label?: string;
  /** It changes nothing, or what is one's own: it is there for who is read-only, too. */
  is_for_readers?: boolean;
  children: ComponentChildren;
}) {
  const { act, done, kind, is_small, label, is_for_readers, children } = props;
  const [is_busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    if (is_busy) return;
    setBusy(true);
    try {
      await act();
      if (done) toast(done);
    } catch (error) {
      if (!(error instanceof Declined)) toast(tellError(error), 'bad');
    } finally {
      setBusy(false);
    }
  };
  if (!is_for_readers && !mayWrite()) return null;
  const classes = ['button', kind ?? '', is_small ? 'small' : ''].filter(Boolean).join(' ');
  return (
    <button
      type="button"
      class={classes}
      // It keeps the focus, which a disabled one loses.
      aria-disabled={is_busy || undefined}
      aria-busy={is_busy}
      aria-label={label}
      onClick={run}
    >
      {children}
    </button>
  );
}
