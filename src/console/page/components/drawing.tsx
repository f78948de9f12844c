/** Drawings for places where there is nothing yet: what would be there, in outline, with colours of the look. */
import type { ComponentChildren } from 'preact';

const DRAWINGS = {
  satchel: (
    <>
      <path class="soft" d="M26 24h44a6 6 0 0 1 6 6v24a6 6 0 0 1-6 6H26a6 6 0 0 1-6-6V30a6 6 0 0 1 6-6z" />
      <path d="M38 24v-4a6 6 0 0 1 6-6h8a6 6 0 0 1 6 6v4M20 40h56" />
      <path class="strong" d="M44 36h8v8h-8z" />
    </>
  ),
  files: (
    <>
      <path d="M22 18h20l8 8v28H22z" transform="rotate(-8 36 36)" />
      <path class="soft" d="M42 12h22l10 10v36H42z" />
      <path class="strong" d="M64 12v10h10M50 34h16M50 42h16M50 50h10" />
    </>
  ),
  mail: (
    <>
      <path class="soft" d="M20 22h56v36H20z" />
      <path class="strong" d="M20 22l28 22 28-22" />
      <path d="M8 32h6M4 40h10M8 48h6" />
    </>
  ),
  key: (
    <>
      <circle class="soft" cx="34" cy="36" r="14" />
      <circle cx="34" cy="36" r="5" />
      <path class="strong" d="M48 36h32M72 36v8M62 36v6" />
    </>
  ),
  people: (
    <>
      <circle cx="28" cy="28" r="8" />
      <path d="M14 54a14 14 0 0 1 20-12.6" />
      <circle class="soft" cx="54" cy="26" r="11" />
      <path class="soft strong" d="M34 58a20 20 0 0 1 40 0z" />
    </>
  ),
  chart: (
    <>
      <path d="M18 12v46h62" />
      <path class="soft" d="M26 58V46h10v12zM44 58V34h10v24zM62 58V26h10v32z" />
      <path class="strong" d="M26 34l18-12 16 4 18-14" />
    </>
  ),
  well: (
    <>
      <circle class="soft" cx="48" cy="36" r="22" />
      <path class="strong" d="M38 37l7 7 14-15" />
    </>
  ),
  nothing: (
    <>
      <circle class="soft" cx="44" cy="32" r="18" />
      <path class="strong" d="M58 46l14 14" />
      <path d="M37 32h14" />
    </>
  ),
} satisfies Record<string, ComponentChildren>;

export type DrawingName = keyof typeof DRAWINGS;

export function Drawing({ of }: { of: DrawingName }) {
  return (
    <svg class="drawing" width="96" height="72" viewBox="0 0 96 72" aria-hidden="true" focusable="false">
      {DRAWINGS[of]}
    </svg>
  );
}
