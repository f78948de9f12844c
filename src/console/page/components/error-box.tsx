/** What the API said, in its own words, with the request's id to find it by in the log. */
import type { ApiError } from '../api.ts';

export function ErrorBox({ error, retry }: { error: ApiError; retry?: () => void }) {
  // A single one is the message already.
  const told = Object.entries(error.errors).filter(
    ([, messages]) => !error.message.includes(messages.join(' ')),
  );
  return (
    <div class="error-box" role="alert">
      <p>{error.message}</p>
      {told.map(([field, messages]) => (
        <p key={field}>{field === '_' ? messages.join(' ') : `${field}: ${messages.join(' ')}`}</p>
      ))}
      {error.requestId && <p class="fine">Request {error.requestId}</p>}
      {retry && (
        <p>
          <button type="button" class="button small" onClick={retry}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}
