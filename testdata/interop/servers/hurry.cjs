// Preloaded into every server. It makes timers of five seconds run every half
// second.
const every = globalThis.setInterval;
globalThis.setInterval = (call, millis, ...rest) => every(call, millis === 5000 ? 500 : millis, ...rest);
