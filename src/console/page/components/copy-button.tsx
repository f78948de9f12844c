/** Puts a text on the clipboard, and says that it did. */
import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { toast } from './toast.tsx';

const SHOWN_MS = 1500;

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [is_copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), SHOWN_MS);
    } catch {
      toast('The browser does not let this page copy. Select the text instead.', 'bad');
    }
  };
  return (
    <button type="button" class="button quiet square" aria-label={label} title={label} onClick={copy}>
      <Icon name={is_copied ? 'check' : 'copy'} />
      <span class="hidden" aria-live="polite">
        {is_copied ? 'Copied' : ''}
      </span>
    </button>
  );
}

/** A line for a shell, or a URL, to be copied. */
export function Command({ of, label = 'Copy the command' }: { of: string; label?: string }) {
  return (
    <p class="command">
      <code>{of}</code>
      <CopyButton text={of} label={label} />
    </p>
  );
}
