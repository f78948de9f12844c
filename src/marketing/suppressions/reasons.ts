/** Several reasons for one suppression: which is the strongest, and what is left where one goes. Pure functions. */
import { SUPPRESSION_KINDS, type SuppressionKind } from './tables.ts';

/** Why an address is suppressed: the strongest reason, and the strongest beside it. */
export interface Reasons {
  kind: SuppressionKind | null;
  also_kind: SuppressionKind | null;
}

/** Kinds stand weakest first. */
export function isStronger(kind: SuppressionKind, than: SuppressionKind | null): boolean {
  return than === null || SUPPRESSION_KINDS.indexOf(kind) > SUPPRESSION_KINDS.indexOf(than);
}

/** With one more; the reader's own repeat is none. */
export function withReason(reasons: Reasons, kind: SuppressionKind, is_readers_own: boolean): Reasons {
  if (reasons.kind === null) return { kind, also_kind: null };
  const is_stronger = isStronger(kind, reasons.kind);
  if (is_readers_own && !is_stronger) return reasons;
  const other = is_stronger ? reasons.kind : kind;
  return {
    kind: is_stronger ? kind : reasons.kind,
    also_kind: isStronger(other, reasons.also_kind) ? other : reasons.also_kind,
  };
}

/** With those that imports gave, of which none repeats another. */
export function withImported(own: Reasons, imported: readonly SuppressionKind[]): Reasons {
  const others = SUPPRESSION_KINDS.filter(
    (kind) => imported.includes(kind) && kind !== own.kind && kind !== own.also_kind,
  );
  return others.reduce((reasons, kind) => withReason(reasons, kind, false), own);
}
