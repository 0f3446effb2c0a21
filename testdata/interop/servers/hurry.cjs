// Preloaded into *everything*: what it says every five seconds, it says twice a
// second.
const every = globalThis.setInterval;
globalThis.setInterval = (call, millis, ...rest) => every(call, millis === 5000 ? 500 : millis, ...rest);
