/** A secret that is shown this once: to be copied now. */
import { CopyButton } from './copy-button.tsx';

export function SecretOnce({ secret, children }: { secret: string; children: string }) {
  return (
    <div class="notice good" role="status">
      <p>{children}</p>
      <div class="secret">
        <code>{secret}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </div>
    </div>
  );
}
