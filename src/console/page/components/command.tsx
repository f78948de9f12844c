/** A line for a shell, to be copied. */
import { CopyButton } from './copy-button.tsx';

export function Command({ of }: { of: string }) {
  return (
    <p class="command">
      <code>{of}</code>
      <CopyButton text={of} label="Copy the command" />
    </p>
  );
}
