/**
 * Kubernetes sets variables for the Services of a namespace (as Docker did for links). Those of Services whose names begin with
 * `satchel` look like settings, and are none.
 */
const OF_SERVICE =
  /^SATCHEL_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;
/** May be a setting too: the value tells. */
const ADDRESS_OF_SERVICE = /^SATCHEL_(?:[A-Z0-9_]+_)?PORT$/;

type Variables = Readonly<Record<string, string | undefined>>;

/** The names of such variables. */
export function serviceLinksIn(env: Variables): string[] {
  const isAddress = (value = ''): boolean => /^(?:tcp|udp|sctp):\/\//.test(value);
  return Object.keys(env).filter(
    (name) => OF_SERVICE.test(name) || (ADDRESS_OF_SERVICE.test(name) && isAddress(env[name])),
  );
}

export function withoutServiceLinks(env: Variables): Variables {
  const links = serviceLinksIn(env);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !links.includes(name)));
}
