/** The form that somebody puts on a page of their own, which posts to the sign-up page of a list. */
import { MAX_ADDRESS_CHARS, MAX_FORM_NAME_CHARS } from '../../limits.ts';

/**
 * A field that people don't see: whoever fills it is a robot. No browser fills a field of this name by
 * itself.
 */
export const TRAP_FIELD = 'comment';

/** HTML that works as it stands, without a script. `sign_up_url` is the list's. */
export function ownFormOf(
  sign_up_url: string,
  { asks_for_tracking }: { asks_for_tracking: boolean },
): string {
  const tracking = asks_for_tracking
    ? '\n  <label><input type="checkbox" name="tracking" value="true"> Count what I open and click</label>'
    : '';
  return `<form method="post" action="${Bun.escapeHTML(sign_up_url)}">
  <label>Email <input type="email" name="email" required maxlength="${MAX_ADDRESS_CHARS}" autocomplete="email"></label>
  <label>First name <input name="first_name" maxlength="${MAX_FORM_NAME_CHARS}" autocomplete="given-name"></label>${tracking}
  <label aria-hidden="true" style="position:absolute;left:-9999px">Leave this empty <input name="${TRAP_FIELD}" tabindex="-1" autocomplete="off"></label>
  <button>Sign up</button>
</form>`;
}
