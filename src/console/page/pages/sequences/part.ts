/** What each part of a sequence's page is given. */
import type { Sequence } from '../../api.generated.ts';

export interface SequencePartProps {
  path: { project: string; sequence: string };
  of: Sequence;
  /** The version of it, for a change. */
  etag: string | null;
  /** The sequence is another one now: it is to be loaded again. */
  onChange(): void;
}
