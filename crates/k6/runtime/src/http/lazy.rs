//! Objects of scripts whose properties are created from a value of Rust when they are read: most
//! scripts read one or two of many.

use loadline_k6_modules::guarded;
use rquickjs::class::{ClassKind, JsCell, JsClass, PropertyDescriptor, PropertyName};
use rquickjs::class::{Readable, Trace, Tracer};
use rquickjs::{Atom, Class, Ctx, JsLifetime, Object, Persistent, Result, Value, qjs};
use rquickjs::{function::Constructor, object::Property};
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// The kinds of objects for the responses of a runtime.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    pub(super) answers: RefCell<Option<Rc<Kind>>>,
    pub(super) timings: RefCell<Option<Rc<Kind>>>,
}

impl Responses {
    /// Releases all values, because the runtime ends.
    pub(crate) fn forget(&self) {
        self.answers.take();
        self.timings.take();
    }
}

/// A value from which such objects are created.
pub(crate) trait Source: 'static {
    /// The names of the properties in order.
    const NAMES: &'static [&'static str];

    /// Creates the value of a property. Returns true with it if the value has to be kept: an object
    /// is the same each time that the script reads it, and a long text costs more to create than to
    /// keep.
    fn read<'js>(&self, ctx: &Ctx<'js>, name: &'static str) -> Result<(Value<'js>, bool)>;

    /// Returns the kind of such objects in the realm that runs.
    fn kind<'js>(ctx: &Ctx<'js>) -> Result<Rc<Kind>>;
}

/// Data that the objects of one source have in common in a realm.
#[derive(Debug)]
pub(crate) struct Kind {
    /// The prototype, which has the functions of the objects.
    prototype: Persistent<Object<'static>>,
    /// An object with all names: while it exists, the names keep their numbers.
    _names: Persistent<Object<'static>>,
    ids: Rc<[u32]>,
}

impl Kind {
    /// Creates the kind of objects with this prototype.
    pub(crate) fn new<'js, S: Source>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Result<Kind> {
        let names = Object::new(ctx.clone())?;
        let mut ids = Vec::with_capacity(S::NAMES.len());
        for name in S::NAMES {
            names.set(*name, true)?;
            ids.push(id_of(&Atom::from_str(ctx.clone(), name)?));
        }
        Ok(Kind {
            prototype: Persistent::save(ctx, prototype.clone()),
            _names: Persistent::save(ctx, names),
            ids: ids.into(),
        })
    }

    /// Returns the prototype of the objects.
    pub(crate) fn prototype<'js>(&self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        self.prototype.clone().restore(ctx)
    }

    /// Creates an object for this value.
    pub(crate) fn object<'js, S: Source>(&self, ctx: &Ctx<'js>, of: Rc<S>) -> Result<Value<'js>> {
        let lazy = Lazy {
            of,
            ids: Rc::clone(&self.ids),
            own: RefCell::default(),
            aside: RefCell::default(),
        };
        let object = Class::instance_proto(lazy, self.prototype(ctx)?)?;
        Ok(object.into_inner().into_value())
    }
}

/// Returns the number of an atom, which the library passes to hashers only.
fn id_of(atom: &Atom<'_>) -> u32 {
    struct Id(u32);

    impl Hasher for Id {
        fn finish(&self) -> u64 {
            u64::from(self.0)
        }

        fn write(&mut self, _: &[u8]) {}

        fn write_u32(&mut self, id: u32) {
            self.0 = id;
        }
    }

    let mut id = Id(0);
    atom.hash(&mut id);
    id.0
}

/// The native part of such an object.
struct Lazy<'js, S> {
    of: Rc<S>,
    ids: Rc<[u32]>,
    /// The values that were created and kept, and those that the script has set.
    own: RefCell<Vec<(Atom<'js>, Value<'js>)>>,
    /// A value that is kept with the object and hidden from scripts.
    aside: RefCell<Option<Value<'js>>>,
}

impl<'js, S: Source> Lazy<'js, S> {
    fn own(&self, atom: &Atom<'js>) -> Option<Value<'js>> {
        let own = self.own.borrow();
        let found = own.iter().find(|(known, _)| known == atom);
        found.map(|(_, value)| value.clone())
    }

    fn name(&self, atom: &Atom<'js>) -> Option<&'static str> {
        let id = id_of(atom);
        let at = self.ids.iter().position(|known| *known == id)?;
        Some(S::NAMES[at])
    }

    /// Returns the value of an own property; `None` if there is no such property.
    fn get(&self, ctx: &Ctx<'js>, atom: &Atom<'js>) -> Result<Option<Value<'js>>> {
        if let Some(own) = self.own(atom) {
            return Ok(Some(own));
        }
        let Some(name) = self.name(atom) else {
            return Ok(None);
        };
        let (value, is_kept) = self.of.read(ctx, name)?;
        if is_kept {
            self.set(atom.clone(), value.clone());
        }
        Ok(Some(value))
    }

    fn set(&self, atom: Atom<'js>, value: Value<'js>) {
        let mut own = self.own.borrow_mut();
        match own.iter_mut().find(|(known, _)| *known == atom) {
            Some((_, known)) => *known = value,
            None => own.push((atom, value)),
        }
    }

    /// Drops the kept value of a property, or the one that the script has set.
    fn forget(&self, atom: &Atom<'js>) {
        self.own.borrow_mut().retain(|(known, _)| known != atom);
    }
}

impl<'js, S> Trace<'js> for Lazy<'js, S> {
    fn trace<'a>(&self, tracer: Tracer<'a, 'js>) {
        // While a value is added, nothing is traced, because adding it calls no script.
        if let Ok(own) = self.own.try_borrow() {
            for (atom, value) in own.iter() {
                atom.trace(tracer);
                value.trace(tracer);
            }
        }
        if let Ok(aside) = self.aside.try_borrow() {
            aside.trace(tracer);
        }
    }
}

#[expect(
    unsafe_code,
    reason = "a derived one would ask it of the source as well"
)]
// SAFETY: the lifetime of the runtime's values in it changes together with its own.
unsafe impl<'js, S: 'static> JsLifetime<'js> for Lazy<'js, S> {
    type Changed<'to> = Lazy<'to, S>;
}

impl<'js, S: Source> JsClass<'js> for Lazy<'js, S> {
    const NAME: &'static str = "Lazy";

    const KIND: ClassKind = ClassKind::Exotic;

    type Mutable = Readable;

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }

    fn exotic_get_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
        _: Value<'js>,
    ) -> Result<Value<'js>> {
        guarded(ctx, || match this.borrow().get(ctx, &atom)? {
            Some(value) => Ok(value),
            None => S::kind(ctx)?.prototype(ctx)?.get(atom),
        })
    }

    /// Sets a property of the receiver, which may be an object that inherits from this one.
    fn exotic_set_property(
        _: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
        receiver: Value<'js>,
        value: Value<'js>,
    ) -> Result<bool> {
        count_again(ctx, &value);
        guarded(ctx, || {
            let Some(object) = receiver.as_object() else {
                return Ok(false);
            };
            match Class::<Self>::from_object(object) {
                Some(lazy) => lazy.borrow().set(atom, value),
                None => {
                    let property = Property::from(value);
                    object.prop(atom, property.writable().enumerable().configurable())?;
                }
            }
            Ok(true)
        })
    }

    /// Deletes a value that was set; a property of the source is then created again when it is
    /// read.
    fn exotic_delete_property(
        this: &JsCell<'js, Self>,
        _: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> Result<bool> {
        this.borrow().forget(&atom);
        Ok(true)
    }

    fn exotic_has_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> Result<bool> {
        guarded(ctx, || {
            let lazy = this.borrow();
            if lazy.name(&atom).is_some() || lazy.own(&atom).is_some() {
                return Ok(true);
            }
            S::kind(ctx)?.prototype(ctx)?.contains_key(atom)
        })
    }

    fn exotic_get_own_property(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
        atom: Atom<'js>,
    ) -> Result<Option<PropertyDescriptor<'js>>> {
        let value = guarded(ctx, || this.borrow().get(ctx, &atom))?;
        Ok(value.map(|value| PropertyDescriptor::new_value(value, true, true, true)))
    }

    fn exotic_get_own_property_names(
        this: &JsCell<'js, Self>,
        ctx: &Ctx<'js>,
    ) -> Result<Vec<PropertyName<'js>>> {
        let lazy = this.borrow();
        let names = S::NAMES.iter();
        let named = names.map(|name| Atom::from_str(ctx.clone(), name));
        let own = lazy.own.borrow();
        let others = own.iter().map(|(atom, _)| atom);
        let others = others.filter(|atom| lazy.name(atom).is_none()).cloned();
        let all = named.chain(others.map(Ok));
        let listed = all.map(|atom| {
            Ok(PropertyName {
                atom: atom?,
                is_enumerable: true,
            })
        });
        listed.collect()
    }
}

/// Counts a reference that rquickjs releases without owning it: QuickJS keeps the reference to the
/// value that is set, and the library drops it all the same (0.14.0, `VTable::set_property_impl`).
#[expect(unsafe_code, reason = "the library has no safe name for it")]
fn count_again<'js>(ctx: &Ctx<'js>, value: &Value<'js>) {
    // SAFETY: both are of this runtime, and alive. The library drops the reference counted here.
    unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), value.as_raw()) };
}

/// Returns the value that an object was created from; `None` for any other object.
pub(crate) fn source<S: Source>(value: &Value<'_>) -> Option<Rc<S>> {
    let object = Class::<Lazy<'_, S>>::from_object(value.as_object()?)?;
    Some(Rc::clone(&object.borrow().of))
}

/// Returns the value that is kept with an object and hidden from scripts, created on the first
/// call.
pub(crate) fn aside<'js, S: Source>(
    value: &Value<'js>,
    make: impl FnOnce() -> Result<Value<'js>>,
) -> Result<Value<'js>> {
    let object = value
        .as_object()
        .and_then(Class::<Lazy<'js, S>>::from_object);
    let Some(object) = object else {
        return make();
    };
    let known = object.borrow().aside.borrow().clone();
    if let Some(known) = known {
        return Ok(known);
    }
    let made = make()?;
    object.borrow().aside.replace(Some(made.clone()));
    Ok(made)
}
