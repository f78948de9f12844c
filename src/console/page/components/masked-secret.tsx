/** A secret: dots, and a button that shows it for a while and says that this is recorded. */
import { ActionButton } from './action-button.tsx';
import { CopyButton } from './copy-button.tsx';

export function MaskedSecret(props: {
  /** Its name, for those who hear it. */
  label: string;
  /** Null while it is hidden. */
  shown: string | null;
  left_s: number;
  /** Absent where whoever looks may not have it shown. */
  reveal?: () => Promise<void>;
  hide(): void;
}) {
  const { label, shown, left_s, reveal, hide } = props;
  if (shown === null) {
    return (
      <div class="row">
        <span class="dots" role="img" aria-label="hidden">
          ••••••••••
        </span>
        {reveal && (
          <ActionButton is_small is_for_readers label={`Show, on record: ${label}`} act={reveal}>
            Show, on record
          </ActionButton>
        )}
      </div>
    );
  }
  return (
    <div class="shown-secret">
      <div class="secret">
        <code>{shown}</code>
        <CopyButton text={shown} label={`Copy ${label}`} />
      </div>
      <div class="row">
        <span class="muted fine">Recorded. Hidden again in {left_s} s.</span>
        <button type="button" class="button small" aria-label={`Hide now: ${label}`} onClick={hide}>
          Hide now
        </button>
      </div>
    </div>
  );
}

/** A secret that is shown this once: to be copied now. */
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
