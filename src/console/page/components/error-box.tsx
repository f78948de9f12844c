/** A message of the API, with the way to where it is mended. Whoever asks gets the command, and the id that the log has of the request. */
import type { ApiError } from '../api.ts';
import { hrefOf, matchPath, usePath } from '../router.ts';
import { Command } from './copy-button.tsx';
import { type Remedy, remedyOf, tellRefusal, wayOf } from './refusal.ts';

export function ErrorBox({ error, retry }: { error: ApiError; retry?: () => void }) {
  // A single one is the message already.
  const told = Object.entries(error.errors).filter(
    ([, messages]) => !error.message.includes(messages.join(' ')),
  );
  const remedy = remedyOf(error);
  const command = remedy?.command ?? null;
  return (
    <div class="error-box" role="alert">
      <p>{tellRefusal(error.message, remedy)}</p>
      {told.map(([field, messages]) => (
        <p key={field}>{tellField(field, messages, remedy)}</p>
      ))}
      {(remedy || retry) && (
        <div class="row">
          {remedy && <Mending remedy={remedy} />}
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

function tellField(field: string, messages: readonly string[], remedy: Remedy | null): string {
  const told = messages.map((message) => tellRefusal(message, remedy)).join(' ');
  return field === '_' ? told : `${field.replaceAll('_', ' ')}: ${told}`;
}

/**
 * The button to where something is mended, in a tab of its own, so that what was entered here is here when one comes back. Nothing
 * where no page does it.
 */
export function Mending({ remedy }: { remedy: Remedy }) {
  const top = usePath().split('/').slice(0, 3).join('/');
  const project = matchPath('/projects/:project', top)?.project ?? null;
  const way = wayOf(remedy, project === 'new' ? null : project);
  if (way === null) return null;
  return (
    <a class="button small" href={hrefOf(way.path)} target="_blank" rel="noreferrer">
      {way.label}
      <span class="hidden"> (in a new tab)</span>
    </a>
  );
}
