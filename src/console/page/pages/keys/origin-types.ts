/** Kinds of origins, as they are shown. */
import type { Origin } from '../../api.generated.ts';

export const ORIGIN_TYPES: readonly (readonly [Origin['type'], string])[] = [
  ['domain', 'Web site'],
  ['android', 'Android app'],
  ['ios', 'iOS app'],
];
