/** What the API said, the way to where it is mended, and for who asks the command and the request's id, to find it by in the log. */
import type { ApiError } from '../api.ts';
import { Command } from './copy-button.tsx';
import { Mending } from './mending.tsx';
import { readRefusal } from './refusal.ts';

export function ErrorBox({ error, retry }: { error: ApiError; retry?: () => void }) {
  // A single one is the message already.
  const told = Object.entries(error.errors).filter(
    ([, messages]) => !error.message.includes(messages.join(' ')),
  );
  const { told: said, command } = readRefusal(error.message);
  return (
    <div class="error-box" role="alert">
      <p>{said}</p>
      {told.map(([field, messages]) => (
        <p key={field}>{tellField(field, messages)}</p>
      ))}
      {(command || retry) && (
        <div class="row">
          {command && <Mending command={command} />}
          {retry && (
            <button type="button" class="button small" onClick={retry}>
              Try again
            </button>
          )}
        </div>
      )}
      {(command || error.requestId) && (
        <details class="more fine">
          <summary>Details</summary>
          {command && <Command of={command} />}
          {error.requestId && <p>Request {error.requestId}</p>}
        </details>
      )}
    </div>
  );
}

function tellField(field: string, messages: readonly string[]): string {
  const told = messages.map((message) => readRefusal(message).told).join(' ');
  return field === '_' ? told : `${field.replaceAll('_', ' ')}: ${told}`;
}
