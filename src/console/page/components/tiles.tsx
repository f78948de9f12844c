/** A few numbers side by side, each of which leads to what it counts. */
import { Count } from './quantity.tsx';

export interface TileProps {
  label: string;
  value: number;
  note?: string;
  href?: string;
}

export function Tiles({ of }: { of: readonly TileProps[] }) {
  return (
    <div class="tiles">
      {of.map((tile) =>
        tile.href ? (
          <a key={tile.label} class="tile" href={tile.href}>
            <Inside {...tile} />
          </a>
        ) : (
          <div key={tile.label} class="tile">
            <Inside {...tile} />
          </div>
        ),
      )}
    </div>
  );
}

function Inside({ label, value, note }: TileProps) {
  return (
    <>
      <span class="tile-label">{label}</span>
      <span class="tile-value">
        <Count of={value} />
      </span>
      {note && <span class="tile-note">{note}</span>}
    </>
  );
}
