/** Numbers and sizes, written for people. */
const count = new Intl.NumberFormat('en');
const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** 1234567 is 1,234,567. */
export function Count({ of }: { of: number }) {
  return <>{count.format(of)}</>;
}

/** "3 keys", "1 key", "2 people": for a sentence. */
export function counted(many: number, one: string): string {
  const more = one === 'person' ? 'people' : `${one}s`;
  return `${count.format(many)} ${many === 1 ? one : more}`;
}

/** As `counted`, of what was counted as far as this where it is capped: "10,000 and more people". */
export function countedTo(meta: { total: number; total_capped?: true }, one: string): string {
  const told = counted(meta.total, one);
  return meta.total_capped ? told.replace(' ', ' and more ') : told;
}

/** "12.5%", or nothing where there is nothing to be a share of. */
export function tellShare(part: number, whole: number): string {
  return whole === 0 || part === 0 ? '' : `${((100 * part) / whole).toFixed(1)}%`;
}

/** Powers of 1000, as disks are sold: 1536 is 1.5 kB. */
export function tellBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[power]}`;
}

export function Bytes({ of }: { of: number }) {
  return <span title={`${count.format(of)} bytes`}>{tellBytes(of)}</span>;
}
